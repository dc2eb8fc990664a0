# refuse: no-capture-site
import torch

for x in range(3):
    g = torch.cuda.CUDAGraph()
    text = "with torch.cuda.graph(g):"
