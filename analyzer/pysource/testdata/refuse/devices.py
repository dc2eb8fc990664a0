# refuse: device-loop
import torch


def capture(model, n_gpus):
    graphs = []
    for d in range(n_gpus):
        with torch.cuda.device(d):
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                model()  # frame
            graphs.append(g)
