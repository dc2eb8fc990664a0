# refuse: graph-dropped
import torch

for x in xs:
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        f(x)
