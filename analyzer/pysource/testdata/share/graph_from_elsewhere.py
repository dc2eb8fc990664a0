import torch


def capture(self, model, xs):
    for n, x in enumerate(xs):
        g = self.graphs[n]
        with torch.cuda.graph(g):  # frame
            model(x)
        g.replay()
