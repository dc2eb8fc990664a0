import torch


def capture(model, shapes):
    graphs = []
    for shape in shapes:
        x = torch.zeros(shape, device="cuda")
        model(x)  # frame
        torch.cuda.synchronize()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            y = model(x)
        graphs.append((g, x, y))
    return graphs
