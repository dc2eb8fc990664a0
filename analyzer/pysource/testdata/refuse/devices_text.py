# refuse: device-loop
import torch


def capture(model, n_gpus):
    graphs = []
    for d in range(n_gpus):
        name = f"cuda:{d}"
        torch.cuda.set_device(f"cuda:{d}")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            model()  # frame
        graphs.append(g)
