import torch
graphs = []
for x in xs:
    graphs.append(torch.cuda.CUDAGraph())
    with torch.cuda.graph(graphs[-1]): model(x)  # frame