# refuse: pool-given
import torch


def capture(self, model, xs):
    for x in xs:
        with torch.cuda.graph(a[x], self.graph_pool):
            model(x)
        if self.graph_pool is None:
            self.graph_pool = a[x].pool()
