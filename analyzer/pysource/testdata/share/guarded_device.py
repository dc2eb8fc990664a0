import torch


def capture(model, xs, device):
    graphs = []
    for x in xs:
        torch.cuda.set_device(device)
        with torch.cuda.device(device):
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):  # frame
                model(x)
        graphs.append(g)
    return graphs
