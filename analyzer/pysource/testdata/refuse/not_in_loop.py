# refuse: not-in-loop
import torch


def capture(model, x):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for _ in range(3):
            model(x)  # frame
    return g
