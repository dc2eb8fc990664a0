"""The training job whose log lies beside this file."""

import torch
import torch.distributed as dist

from engine.graphs import GraphRunner


def build_model():
    return torch.nn.Sequential(*(torch.nn.Linear(8192, 8192) for _ in range(48))).cuda()


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    shapes = [(size, 8192) for size in range(256, 4096 + 1, 256)]
    runner = GraphRunner(build_model())
    runner.capture_all(shapes)
    for shape in shapes:
        runner.run(torch.randn(shape, device="cuda"))


if __name__ == "__main__":
    main()
