import torch


def graph_signatures(model, samples):
    graphed = {}
    for sample in samples:
        graphed[sample.shape] = torch.cuda.make_graphed_callables(
            model,
            (sample,),
            num_warmup_iters=3,
        )  # frame
    return graphed
