import torch

everything = {}
for config in configs:
    graphs: dict = {}
    for n in sizes:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            y = f(x[:n])  # frame
        graphs[n] = (g, y)
    everything[config] = graphs
