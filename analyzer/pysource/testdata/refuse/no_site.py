# refuse: no-capture-site
import torch


def train(model):
    for x in range(3):
        model(x)  # frame


def capture(model, xs):
    for x in xs:
        with torch.cuda.graph(make()):
            model(x)
