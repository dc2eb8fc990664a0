import torch


def capture(model, xs):
	graphs = []
	# tabs
	for x in xs:
		g = torch.cuda.CUDAGraph()
		with torch.cuda.graph(
			g,
		):  # frame
			model(x)
		graphs.append(g)
	return graphs
