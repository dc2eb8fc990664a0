# refuse: torch-cuda-not-in-scope
for x in range(3):
    import torch
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        pass
    graphs[x] = g
