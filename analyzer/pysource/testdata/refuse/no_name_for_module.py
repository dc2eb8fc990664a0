# refuse: torch-cuda-not-in-scope
from torch.cuda import CUDAGraph, graph

for x in range(3):
    g = CUDAGraph()
    with graph(g):
        pass
    graphs[x] = g
