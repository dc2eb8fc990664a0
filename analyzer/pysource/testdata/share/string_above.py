import torch

graphs = []
text = """
# not a comment"""
for n in (4, 2, 1):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):  # frame
        print("torch.cuda.graph(g)", f"{torch.cuda.graph(g)}", text)
    graphs.append(g)
