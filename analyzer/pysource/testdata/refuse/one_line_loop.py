# refuse: one-line-loop
import torch


def capture(model, xs):
    out = {}
    for x in xs: out[x] = torch.cuda.make_graphed_callables(model, (x,))
