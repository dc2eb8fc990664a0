# %%
import torch

graphs = []
# %% capture
# all of them
for n in (4, 2, 1):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):  # frame
        torch.zeros(n, device="cuda")
    graphs.append(g)
