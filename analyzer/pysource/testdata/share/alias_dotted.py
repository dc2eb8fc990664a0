import torch.cuda as tc
import torch.cuda.graphs


def capture(model, xs):
    graphs = []
    for x in xs:
        g = tc.CUDAGraph()
        with torch.cuda.graphs.graph(g):  # frame
            model(x)
        graphs.append(g)
    return graphs
