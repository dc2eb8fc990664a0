# refuse: pool-given
import torch


def capture(model, xs):
    handle = None
    for x in xs:
        if handle is None:
            handle = torch.cuda.graph_pool_handle()
        with torch.cuda.graph(a[x], handle):
            model(x)
