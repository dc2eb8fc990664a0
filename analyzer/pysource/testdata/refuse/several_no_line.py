# refuse: several-capture-sites
import torch

for x in range(3):
    with torch.cuda.graph(a[x]):
        pass
for x in range(3):
    with torch.cuda.graph(b[x]):
        pass
