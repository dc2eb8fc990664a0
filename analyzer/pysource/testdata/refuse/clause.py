# refuse: no-line-before-loop
import torch


def capture(model, xs):
    if not xs:
        return None
    elif all([torch.cuda.make_graphed_callables(model, (x,)) for x in xs]):
        return xs
