try:
    from torch import cuda
except ImportError:
    cuda = None


def capture(model, xs):
    graphs = []
    for x in xs:
        g = cuda.CUDAGraph()
        with cuda.graph(g):  # frame
            model(x)
        graphs.append(g)
    return graphs
