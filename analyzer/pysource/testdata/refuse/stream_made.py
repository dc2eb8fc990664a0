# refuse: stream-per-iteration
import torch


def capture(model, xs):
    graphs = []
    for x in xs:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, stream=torch.cuda.Stream()):
            model(x)  # frame
        graphs.append(g)
