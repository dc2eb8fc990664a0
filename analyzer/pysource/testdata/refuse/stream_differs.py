# refuse: stream-per-iteration
import torch


def capture(model, xs, streams):
    graphs = []
    for x, s in zip(xs, streams):
        g = torch.cuda.CUDAGraph()
        with torch.cuda.stream(s):
            g.capture_begin()
            model(x)  # frame
            g.capture_end()
        graphs.append(g)
