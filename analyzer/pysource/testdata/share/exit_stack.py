import contextlib

import torch


def run(model, xs):
    graphs = []
    for x in xs:
        with contextlib.ExitStack() as stack:
            g = torch.cuda.CUDAGraph()
            stack.enter_context(torch.cuda.graph(g))  # frame
            model(x)
        graphs.append(g)
    return graphs
