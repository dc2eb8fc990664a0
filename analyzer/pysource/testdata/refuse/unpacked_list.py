# refuse: arguments-unpacked
import torch


def capture(model, xs, *options):
    for x in xs:
        with torch.cuda.graph(*options):
            model(x)
