# refuse: graph-dropped
import torch


def bench(f, xs):
    for x in xs:
        graphed = torch.cuda.make_graphed_callables(f, (x,))
        graphed(x)
