# refuse: callable-per-iteration
import torch


def graph_layers(layers, x):
    return [torch.cuda.make_graphed_callables(layer, (x,)) for layer in layers]
