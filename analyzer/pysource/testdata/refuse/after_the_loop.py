# refuse: not-in-loop
import torch

for x in range(3):
    pass
else:
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):  # frame
        pass
