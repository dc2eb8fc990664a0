# refuse: replayed-concurrently
import threading

import torch


class Worker(threading.Thread):
    def run(self):
        self.graph.replay()


for x in range(3):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        pass
    Worker(g).start()
