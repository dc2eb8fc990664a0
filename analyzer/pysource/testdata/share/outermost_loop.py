import torch


def capture(model, layers, sizes):
    graphs = {}
    # Largest first, so that smaller ones fit.
    # See the notes.
    for layer in layers:
        for n in sizes:
            while n > 0:
                g = torch.cuda.CUDAGraph()
                with torch.cuda.graph(g):  # frame
                    layer(n)
                graphs[layer, n] = g
                n //= 2
    return graphs
