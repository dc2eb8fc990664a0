# refuse: loop-in-caller
import torch


def capture(model, x):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        model(x)  # frame
    return g


def capture_all(model, xs):
    return [capture(model, x) for x in xs]
