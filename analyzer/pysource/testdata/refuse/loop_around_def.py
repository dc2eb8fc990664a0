# refuse: loop-in-caller
import torch


def capture_all(model, xs):
    for x in xs:
        def capture():
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                model(x)  # frame
            return g
        run(capture)
