import functools

import torch


def make(model, samples):
    # Decorated.
    @functools.lru_cache(maxsize=None)
    @functools.wraps(
        model
    )
    def call(x, graphed={s.shape: torch.cuda.make_graphed_callables(model, (s,)) for s in samples}):  # frame
        return graphed[x.shape](x)

    return call
