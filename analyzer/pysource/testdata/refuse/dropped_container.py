# refuse: graph-dropped
import torch

for config in configs:
    graphs = {}
    for n in sizes:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            y = f(x[:n])  # frame
        graphs[n] = (g, y)
    for g, y in graphs.values():
        g.replay()
    for n in graphs:
        graphs[n][0].replay()
    print(config, len(graphs))
