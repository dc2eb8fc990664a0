# refuse: several-capture-sites
import torch


def capture(model, xs):
    model(xs)  # frame
    for x in xs:
        with torch.cuda.graph(a[x]):
            pass
    for x in xs:
        with torch.cuda.graph(b[x]):
            pass
