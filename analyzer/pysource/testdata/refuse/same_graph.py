# refuse: same-graph
import torch


def train(model, xs):
    g = torch.cuda.CUDAGraph()
    for step, x in enumerate(xs):
        if step == 3:
            with torch.cuda.graph(g):
                model(x)  # frame
        elif step > 3:
            g.replay()
