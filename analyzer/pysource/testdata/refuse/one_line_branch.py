# refuse: no-line-before-loop
import torch


def capture(model, xs):
    if xs: return [torch.cuda.make_graphed_callables(model, (x,)) for x in xs]
