"""A training job without a GPU that fails as a real one does: eight processes, and rank 3 is first.

Rank 3 runs out of memory in a graph capture of engine/graphs.py. Then the others' watchdogs end them, and the launcher
prints its table. Usage: launch.py [STEPS [SECONDS BEFORE THE FAILURE]]
"""

import subprocess
import sys
import threading
import time

RANKS, FIRST = 8, 3
CLOCK = "2026-11-28 04:18:%02d,%03d"

TRACEBACK = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 24, in <module>
    main()
  File "/workspace/train.py", line 18, in main
    runner.capture_all(shapes)
  File "/workspace/engine/graphs.py", line 30, in capture_all
    out = self.model(static_input)
  File "/usr/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.02 GiB is free. Process 41221 has 78.08 GiB memory in use. Of the allocated memory 75.46 GiB is allocated by PyTorch, with 15.96 GiB allocated in private pools (e.g., CUDA Graphs), and 512.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/workspace/engine/graphs.py", line 29, in capture_all
    with torch.cuda.graph(graph):
  File "/usr/lib/python3.12/site-packages/torch/cuda/graphs.py", line 268, in __exit__
    self.cuda_graph.capture_end()
  File "/usr/lib/python3.12/site-packages/torch/cuda/graphs.py", line 130, in capture_end
    super().capture_end()
torch.AcceleratorError: CUDA error: operation failed due to a previous error during capture"""

TIMEOUT = """\
[rank{0}]:[E1128 04:28:10.{1:03}000000 ProcessGroupNCCL.cpp:629] [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=13369, OpType=ALLREDUCE, NumelIn=131072000, NumelOut=131072000, Timeout(ms)=600000) ran for 6000{1:02} milliseconds before timing out.
[rank{0}]:[E1128 04:28:10.{1:03}000000 ProcessGroupNCCL.cpp:695] [Rank {0}] To avoid data inconsistency, we are taking the entire process down.
terminate called after throwing an instance of 'c10::DistBackendError'"""


def rank(number, steps):
    """One process: trains, then fails when it is told to."""
    for step in range(steps):
        now = CLOCK % divmod(step * 37 % 9000, 1000)
        say(f"\x1b[32m{now}\x1b[0m | step={step} loss={3 - step / 1000:.4f} reserved={40 + step * 30 // steps} GiB")
    say("ready")
    sys.stdin.readline()
    say(TRACEBACK if number == FIRST else TIMEOUT.format(number, 60 + number))
    sys.exit(1 if number == FIRST else 134)


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def launch(steps, pause):
    """Starts the ranks, merges what they print line by line, and reports who failed."""
    ranks = [
        subprocess.Popen([sys.executable, __file__, "--rank", str(n), str(steps)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(RANKS)
    ]
    ready = threading.Barrier(RANKS + 1)

    def forward(number):
        for line in ranks[number].stdout:
            if line == "ready\n":
                ready.wait()
            else:
                say(f"[rank{number}]: {line[:-1]}")

    threads = [threading.Thread(target=forward, args=(n,)) for n in range(RANKS)]
    for thread in threads:
        thread.start()
    ready.wait()
    time.sleep(pause)
    for number in [FIRST, *(n for n in range(RANKS) if n != FIRST)]:
        ranks[number].stdin.write("fail\n")
        ranks[number].stdin.flush()
        threads[number].join()
    say("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n" + "=" * 60 + "\ntrain.py FAILED\n" + "-" * 60 + "\nRoot Cause (first observed failure):\n[0]:")
    say(f"  time      : 2026-11-28_04:28:10\n  host      : node-00\n  rank      : {FIRST} (local_rank: {FIRST})\n  exitcode  : 1 (pid: 41221)")
    say("  error_file: <N/A>\n  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n" + "=" * 60)
    return 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        rank(int(sys.argv[2]), int(sys.argv[3]))
    given = [float(argument) for argument in sys.argv[1:]]
    sys.exit(launch(int(given[0]) if given else 20, given[1] if len(given) > 1 else 0))
