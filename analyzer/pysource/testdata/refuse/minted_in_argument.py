# refuse: handle-per-iteration
import torch


def capture(model, xs):
    for x in xs:
        with torch.cuda.graph(a[x], pool=torch.cuda.graph_pool_handle()):  # frame
            model(x)
