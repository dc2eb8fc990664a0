import torch


def capture(model, xs):
    match = {}
    for case in xs:
        match case:
            case {"x": x, **rest} if not rest:
                g = torch.cuda.CUDAGraph()
                with torch.cuda.graph(g):  # frame
                    model(x)
                match[x.shape] = g
            case _:
                pass
    return match
