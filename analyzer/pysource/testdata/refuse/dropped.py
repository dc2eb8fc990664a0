# refuse: graph-dropped
import torch

times = []
for trial in range(5):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = f(x)  # frame
    g.replay()
    times.append(timed(g.replay))
    del g, y
