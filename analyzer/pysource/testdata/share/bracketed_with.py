import torch


def capture(model, xs):
    graphs = []
    for x in xs:
        g = torch.cuda.CUDAGraph()
        with (
            torch.no_grad(),
            torch.cuda.graph(g, capture_error_mode="thread_local"),
            torch.autocast("cuda"),
        ):
            model(x)  # frame
        graphs.append(g)
    return graphs
