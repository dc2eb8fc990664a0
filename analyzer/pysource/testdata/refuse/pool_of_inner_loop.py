# refuse: pool-given
import torch


def capture(layers, xs):
    for layer in layers:
        handle = torch.cuda.graph_pool_handle()
        for x in xs:
            with torch.cuda.graph(a[layer, x], handle):
                layer(x)
