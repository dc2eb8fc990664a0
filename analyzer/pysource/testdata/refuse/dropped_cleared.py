# refuse: graph-dropped
import torch

for config in configs:
    graphs = []
    for n in sizes:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            y = f(x[:n])  # frame
        graphs.append((g, y))
    save(graphs)
    graphs.clear()
