"""Run programs before and after an edit against a torch that only takes notes.

Each line on stdin names two files, before and after. The edited program must
capture the same graphs in the same order, and captures that were given a pool
must share it with another one.
"""
import collections
import sys
import types
import warnings


class Handle:
    pass


class Graph:
    def __init__(self, number=None):
        self.number = number

    def capture_begin(self, pool=None, capture_error_mode=None):
        EVENTS.append((self.number, pool))

    def capture_end(self):
        pass


class Capture:
    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        EVENTS.append((cuda_graph.number, pool))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    EVENTS.append((sample_args[0], pool))
    return callables


torch = types.ModuleType("torch")
torch.cuda = types.ModuleType("torch.cuda")
torch.cuda.graph = Capture
torch.cuda.CUDAGraph = Graph
torch.cuda.make_graphed_callables = make_graphed_callables
torch.cuda.graph_pool_handle = Handle
sys.modules["torch"] = torch
sys.modules["torch.cuda"] = torch.cuda


def run(path):
    global EVENTS
    EVENTS = []
    with open(path, "rb") as file:
        source = file.read()
    exec(compile(source, path, "exec"), {"__name__": "program", "__annotations__": {}})
    return EVENTS


def compare(before, after):
    was, now = run(before), run(after)
    assert [number for number, _ in was] == [number for number, _ in now], "other captures"
    shared = collections.Counter()
    for (_, old), (_, new) in zip(was, now):
        if old is None and new is not None:
            assert isinstance(new, Handle)
            shared[new] += 1
        else:
            assert type(old) is type(new)
    assert all(count > 1 for count in shared.values()), "a pool is not shared"
    return sum(shared.values())


def main():
    warnings.simplefilter("ignore")
    pairs = given = 0
    for line in sys.stdin.read().splitlines():
        before, after = line.split("\t")
        try:
            given += compare(before, after)
        except BaseException as error:
            print("FAIL", after, type(error).__name__, error)
        pairs += 1
    print(pairs, "edits ran,", given, "captures were given a pool")


main()
