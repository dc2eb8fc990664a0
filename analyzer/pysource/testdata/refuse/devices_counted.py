# refuse: device-loop
import torch


def capture(models):
    graphs = []
    for d in range(torch.cuda.device_count()):
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            models[d]()  # frame
        graphs.append(g)
