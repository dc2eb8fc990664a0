import torch


def capture(model, xs):
    graphs = []
    for x in xs:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g), torch.no_grad():  # frame
            model(x)
        graphs.append(g)
    return graphs
