import torch


def capture(model, xs, ready):
    graphs = {}
    for n, x in enumerate(xs):
        fwd, bwd = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(fwd):
            y = model(x)
        with torch.cuda.graph(bwd):  # frame
            y.backward()
        with torch.cuda.graph(other(n), pool=ready):
            model(x)
        with torch.cuda.graph(*options(n)):
            model(x)
        graphs[n] = (fwd, bwd)
    return graphs


def single(model, x):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        model(x)
    return g
