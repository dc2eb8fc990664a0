# refuse: graph-dropped
import torch


def recapture(self, xs):
    for x in xs:
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.y = self.f(x)  # frame
        self.graph.replay()
