import torch


def capture(model, xs, stream):
    graphs = []
    for x in xs:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(
            g,
            stream=stream  # one for all
        ):
            model(x)  # frame
        graphs.append(g)
    return graphs
