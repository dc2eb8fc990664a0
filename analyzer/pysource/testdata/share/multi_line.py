import torch


def capture(model, xs, stream):
    graphs = []
    for x in xs:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(  # the capture
            g,  # fresh
            stream=stream,  # one for all
            # the mode stays
        ):  # frame
            model(x)
        graphs.append(g)
    return graphs
