# refuse: no-line-before-loop
import torch


def capture(model, xs):
    out = 1; more = [torch.cuda.make_graphed_callables(model, (x,)) for x in xs]
