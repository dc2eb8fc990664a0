def capture(model, xs):
    import torch

    graphs = []
    for x in xs:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):  # frame
            model(x)
        graphs.append(g)
    return graphs
