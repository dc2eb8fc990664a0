"""CUDA graphs for the static shapes of a training step."""

import torch


class GraphRunner:
    """Captures one graph for each shape and replays the one that fits."""

    def __init__(self, model, device="cuda"):
        self.model = model
        self.device = device
        self.graphs = {}

    def warm_up(self, shape, turns=3):
        """Runs the model on a side stream, so that lazy set-up is not captured."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(turns):
                self.model(torch.zeros(shape, device=self.device))
        torch.cuda.current_stream().wait_stream(side)

    def capture_all(self, shapes):
        """Captures a graph for each shape, the largest first."""
        for shape in sorted(shapes, reverse=True):
            self.warm_up(shape)
            static_input = torch.zeros(shape, device=self.device)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = self.model(static_input)
            self.graphs[shape] = (graph, static_input, out)

    def run(self, batch):
        """Replays the graph of the batch's shape; the output is valid until the next run."""
        graph, static_input, out = self.graphs[tuple(batch.shape)]
        static_input.copy_(batch)
        graph.replay()
        return out
