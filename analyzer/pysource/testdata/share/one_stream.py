import torch


def serve(model, xs, side):
    graphs = {}
    for x in xs:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, stream=side):  # frame
            model(x)
        graphs[x.shape] = g
    for x in xs:
        with torch.cuda.stream(side):
            graphs[x.shape].replay()
    loader = Thread(target=load)


def load():
    return [x.cpu() for x in range(3)]
