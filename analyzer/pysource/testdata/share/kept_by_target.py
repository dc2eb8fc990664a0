import torch


def capture(self, model, xs):
    for n, x in enumerate(xs):
        self.graphs[n] = g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):  # frame
            model(x)
