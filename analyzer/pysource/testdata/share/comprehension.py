import torch


def graph_signatures(model, samples):
    # One for each signature.
    return [
        torch.cuda.make_graphed_callables(model, (sample,))
        for sample in samples  # frame
    ]
