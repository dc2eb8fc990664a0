# refuse: graph-dropped
import torch

for trial in range(5):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = f(x)  # frame
    run(g)
    g.reset()
