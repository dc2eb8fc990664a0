import torch


class Runner:
    def __init__(self, model):
        self.model = model
        self.graphs = {}

    def capture(self, sizes):
        for n in sorted(sizes, reverse=True):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                x = self.inputs[:n]
                y = self.model(
                    x,
                    mask=None,  # frame
                )
                self.outputs[:n].copy_(y)
            self.graphs[n] = graph
