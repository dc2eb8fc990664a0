import torch


async def capture(model, requests, lock):
    graphs = []
    async for x in requests:
        async with lock:
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)  # frame
            graphs.append((g, y))
    return graphs
