import torch


def capture(model, xs, stream):
    graphs = []
    with torch.cuda.stream(stream):
        for x in xs:
            g = torch.cuda.CUDAGraph()
            g.capture_begin()  # frame
            model(x)
            g.capture_end()
            graphs.append(g)
    for x in xs:
        g = torch.cuda.CUDAGraph()
        g.capture_begin(capture_error_mode="global")
        g.capture_end()
    return graphs
