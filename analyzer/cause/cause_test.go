package cause_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/signatures"
)

// engine is loaded once: the signatures are many.
var engine = sync.OnceValue(func() *analyzer.Analyzer {
	set, err := signatures.Builtin()
	if err != nil {
		panic(err)
	}
	return analyzer.New(set, analyzer.Options{})
})

// diagnose reads logs, one file each, as one incident.
func diagnose(t testing.TB, logs ...string) *incident.Report {
	t.Helper()
	var files []analyzer.File
	for i, log := range logs {
		files = append(files, analyzer.File{Path: fmt.Sprintf("%d.log", i), Data: strings.NewReader(log), Size: int64(len(log))})
	}
	a, err := engine().Diagnose(context.Background(), files)
	if err != nil {
		t.Fatal(err)
	}
	return a.Report
}

// verdict tells of a verdict on one line: how it is, what, whose, at which line,
// the graph question, how sure, who fell with it, and which fact is missing.
func verdict(r *incident.Report) string {
	v := r.Verdict
	s := string(v.Status)
	if v.Signature != nil {
		s += " " + *v.Signature
	}
	if i := v.Initiator; i != nil {
		s += "; " + person(i)
	}
	for _, i := range v.CoInitiators {
		s += " and " + person(&i)
	}
	s += fmt.Sprintf("; graphs %s, %s", v.GraphPoolIsCause, v.Confidence)
	var ranks []int
	for _, c := range v.Collateral {
		if c.Rank != nil {
			ranks = append(ranks, *c.Rank)
		}
	}
	if len(v.Collateral) > 0 {
		s += fmt.Sprintf("; %d fell: ranks %s", len(v.Collateral), incident.Ranges(ranks))
	}
	if v.MissingFact != nil {
		s += "; asks " + v.MissingFact.ID
	}
	return s
}

func person(i *incident.Initiator) string {
	o := incident.Origin{Rank: i.Rank, LocalRank: i.LocalRank, PID: i.PID}
	if i.Process != nil {
		o.Process = *i.Process
	}
	name := o.Name()
	if name == "" {
		name = "nobody"
	}
	if i.StatedAt == nil {
		return name + " by absence"
	}
	return fmt.Sprintf("%s at line %d", name, i.StatedAt.Line)
}

// rank prefixes the lines of a text as torch does.
func rank(n int, text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		fmt.Fprintf(&b, "[rank%d]: %s", n, l)
	}
	return b.String()
}

const (
	// outside is an allocation that failed outside of any capture: live tensors
	// hold the card.
	outside = `Traceback (most recent call last):
  File "/app/train.py", line 12, in <module>
    loss = model(batch)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 77.10 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.
`
	// inside is one that failed inside a capture.
	inside = `Traceback (most recent call last):
  File "/app/graphs.py", line 41, in capture
    with torch.cuda.graph(g):
  File "/app/model.py", line 88, in forward
    return self.mlp(x)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 77.10 GiB is allocated by PyTorch, with 1.20 GiB allocated in private pools (e.g., CUDA Graphs), and 120.00 MiB is reserved by PyTorch but unallocated.
`
	// value is an exception of the user's own code.
	value = `Traceback (most recent call last):
  File "/app/data.py", line 7, in collate
    raise ValueError("bad sample")
ValueError: bad sample
`
	// table is torchrun's summary; it blames rank %d with local rank %d, pid %d.
	table = `torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-25_01:25:03
  host      : node-0
  rank      : %[1]d (local_rank: %[1]d)
  exitcode  : 1 (pid: %[2]d)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
`
)

// timeout is the line of a rank that waited in a collective.
func timeout(n int, at string) string {
	return fmt.Sprintf("[rank%[1]d]:[E1125 %[2]s.000218549 ProcessGroupNCCL.cpp:683] [Rank %[1]d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=15, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n", n, at)
}

// status is the line with a rank's counters of enqueued and completed work.
func status(n, group, enqueued, completed int) string {
	return fmt.Sprintf("[rank%[1]d]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:1794] [PG ID %[2]d PG GUID %[2]d Rank %[1]d]  failure detected by watchdog at work sequence id: 15 PG status: last enqueued work: %[3]d, last completed work: %[4]d\n", n, group, enqueued, completed)
}

// world is NCCL's line with the size of the job.
func world(n int) string {
	return fmt.Sprintf("[rank0]: node-0:41200:41500 [0] NCCL INFO ncclCommInitRankConfig comm 0x55d0 rank 0 nranks %d cudaDev 0 nvmlDev 0 busId 19000 commId 0xfeed - Init COMPLETE\n", n)
}

type test struct{ name, log, want string }

func run(t *testing.T, tests []test) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := verdict(diagnose(t, tt.log)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRoles(t *testing.T) {
	run(t, []test{
		{"one failure, the others waited", rank(1, outside) + timeout(0, "01:35:02") + timeout(2, "01:35:02"),
			"diagnosed cuda-oom; rank 1 at line 4; graphs no, confirmed; 2 fell: ranks 0, 2"},
		{"victims print first", timeout(0, "01:25:02") + timeout(2, "01:25:02") + rank(1, outside),
			"diagnosed cuda-oom; rank 1 at line 6; graphs no, confirmed; 2 fell: ranks 0, 2"},
		{"an exception that follows a timeout of the same rank is how it died", timeout(0, "01:25:02") + rank(0, value) + rank(1, outside),
			"diagnosed cuda-oom; rank 1 at line 9; graphs no, confirmed; 1 fell: ranks 0"},
		{"printed twice by one process", rank(1, outside) + rank(1, outside) + "[rank0]: x\n",
			"diagnosed cuda-oom; rank 1 at line 4; graphs no, confirmed"},
		{"a worker's error that the engine repeats", `(Worker_TP1 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671] WorkerProc hit an exception.
(Worker_TP1 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671] Traceback (most recent call last):
(Worker_TP1 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671]   File "/opt/venv/lib/python3.12/site-packages/vllm/v1/worker/gpu_model_runner.py", line 3000, in capture_model
(Worker_TP1 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671]     self._capture_cudagraphs(
(Worker_TP1 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671] RuntimeError: CUDA error: out of memory
(EngineCore_DP0 pid=99) ERROR 11-30 01:02:04 [core.py:718] EngineCore failed to start.
(EngineCore_DP0 pid=99) ERROR 11-30 01:02:04 [core.py:718] Traceback (most recent call last):
(EngineCore_DP0 pid=99) ERROR 11-30 01:02:04 [core.py:718]   File "/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 709, in run_engine_core
(EngineCore_DP0 pid=99) ERROR 11-30 01:02:04 [core.py:718] RuntimeError: Worker failed with error 'CUDA error: out of memory', please check the stack trace above for the root cause
(APIServer pid=9) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
`, "diagnosed cuda-graph-capture-oom; rank 1 at line 5; graphs yes, confirmed"},
		{"a weak message counts where there is nothing else", "E1125 01:25:03.100000 1201 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9) local_rank: 2 (pid: 1288) of binary: /usr/bin/python3\n  rank      : 2 (local_rank: 2)\n  exitcode  : -9 (pid: 1288)\n[rank0]: x\n",
			"undetermined; rank 2 at line 1; graphs undetermined, likely; asks who-killed-it"},
		{"a weak message gives way", "E1125 01:25:03.100000 1201 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9) local_rank: 2 (pid: 1288) of binary: /usr/bin/python3\n  rank      : 2 (local_rank: 2)\n  exitcode  : -9 (pid: 1288)\n" + rank(0, outside),
			"diagnosed cuda-oom; rank 0 at line 7; graphs no, confirmed; 1 fell: ranks 2"},
		{"an exception that was handled, and a failure hours later", value + "step 9000 loss 1.1\n" + outside,
			"diagnosed cuda-oom; rank 0 at line 9; graphs no, confirmed"},
		{"an exception in a cleanup that follows the failure", outside + value,
			"diagnosed cuda-oom; rank 0 at line 4; graphs no, confirmed"},
		{"told as a warning: the run went on", "[rank0]: 2026-11-28 04:13:22,150 WARNING tune.py:77 batch 64 does not fit, trying 32: CUDA out of memory. Tried to allocate 9.00 GiB.\n" + rank(1, outside),
			"diagnosed cuda-oom; rank 1 at line 5; graphs no, confirmed"},
		{"the same pid in the tables of two hosts tells of nobody", rank(9, outside) + "  rank      : 9 (local_rank: 1)\n  exitcode  : 1 (pid: 1288)\n  rank      : 3 (local_rank: 3)\n  exitcode  : -6 (pid: 1288)\n",
			"diagnosed cuda-oom; rank 9 at line 4; graphs no, confirmed"},
		{"error 901 behind its cause", rank(1, `Traceback (most recent call last):
  File "/app/graphs.py", line 20, in capture
    n = lengths.max().item()
torch.AcceleratorError: CUDA error: operation not permitted when stream is capturing

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/graphs.py", line 19, in capture
    with torch.cuda.graph(g):
torch.AcceleratorError: CUDA error: operation failed due to a previous error during capture
`) + "[rank0]: x\n",
			"diagnosed cuda-graph-unsafe-op-in-capture; rank 1 at line 4; graphs no, confirmed"},
		{"SGLang's wrapper around a peer's disconnect is a victim's", `[2026-10-30 07:03:54 TP1] Scheduler hit an exception: Traceback (most recent call last):
  File "/sgl/sglang/srt/model_executor/cuda_graph_runner.py", line 375, in __init__
    self.capture()
RuntimeError: CUDA error: out of memory
[2026-10-30 07:03:54 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/sgl/sglang/srt/model_executor/cuda_graph_runner.py", line 375, in __init__
    self.capture()
RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:10895

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/sgl/sglang/srt/managers/scheduler.py", line 2215, in run_scheduler_process
    scheduler = Scheduler(
Exception: Capture cuda graph failed: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:10895
`, "undetermined cuda-oom; rank 1 at line 4; graphs undetermined, likely; 1 fell: ranks 0; asks per-pool-bytes"},
	})
}

func TestOrder(t *testing.T) {
	// at stamps every line of a traceback with a time of its own.
	at := func(n int, stamp, text string) string {
		var b strings.Builder
		for l := range strings.Lines(text) {
			fmt.Fprintf(&b, "[rank%d]: 2026-11-25 %s ERROR %s", n, stamp, l)
		}
		return b.String()
	}
	run(t, []test{
		{"the earlier of two by milliseconds, though printed later", at(0, "01:25:02,900", value) + at(1, "01:25:02,100", outside),
			"diagnosed cuda-oom; rank 1 at line 8; graphs no, confirmed; 1 fell: ranks 0"},
		{"the same again, as two files", at(1, "01:25:02,100", value) + at(0, "01:25:02,900", outside),
			"diagnosed; rank 1 at line 4; graphs no, likely; 1 fell: ranks 0; asks exception-cause"},
		{"two within one second: nobody is named", at(0, "01:25:02", outside) + at(1, "01:25:02", outside) + "[rank2]: x\n",
			"undetermined cuda-oom; nobody at line 4 and rank 1 at line 8; graphs no, possible; asks first-of-tied"},
		{"two without times: nobody is named", rank(0, outside) + rank(1, outside) + "[rank2]: x\n",
			"undetermined cuda-oom; nobody at line 4 and rank 1 at line 8; graphs no, possible; asks first-of-tied"},
		{"two ranks alike without times: perhaps one after the other", rank(0, outside) + rank(1, outside),
			"undetermined cuda-oom; nobody at line 4 and rank 1 at line 8; graphs no, possible; asks first-of-tied"},
		{"three ranks alike: symmetric", rank(0, outside) + rank(1, outside) + rank(2, outside),
			"diagnosed cuda-oom; nobody at line 4 and rank 1 at line 8 and rank 2 at line 12; graphs no, confirmed"},
		{"all ranks of a known world alike", world(3) + rank(2, outside) + rank(0, outside) + rank(1, outside),
			"diagnosed cuda-oom; nobody at line 5 and rank 0 at line 9 and rank 1 at line 13; graphs no, confirmed"},
		{"all ranks but one of a known world: not symmetric", world(3) + rank(0, outside) + rank(1, outside),
			"undetermined cuda-oom; nobody at line 5 and rank 1 at line 9; graphs no, possible; asks first-of-tied"},
		{"of tied failures an exception that nobody knows is the consequence", rank(0, value) + rank(1, outside) + "[rank2]: x\n",
			"diagnosed cuda-oom; rank 1 at line 8; graphs no, confirmed; 1 fell: ranks 0"},
		{"one failure alone needs no clock", timeout(0, "01:25:02") + rank(1, outside) + timeout(2, "01:25:01"),
			"diagnosed cuda-oom; rank 1 at line 5; graphs no, confirmed; 2 fell: ranks 0, 2"},
		{"one process", outside, "diagnosed cuda-oom; rank 0 at line 4; graphs no, confirmed"},
		{"a process of which only the pid is known", "(VllmWorkerProcess pid=9143) ERROR 11-30 01:02:03 a.py:1] RuntimeError: CUDA error: an illegal memory access was encountered\n(VllmWorkerProcess pid=9144) INFO 11-30 01:02:03 a.py:1] x\n",
			"undetermined cuda-error-async; VllmWorkerProcess pid 9143 at line 1; graphs no, possible; asks rank-map"},
	})
}

func TestWaiting(t *testing.T) {
	waited := func(ranks ...int) string {
		var b strings.Builder
		for _, r := range ranks {
			b.WriteString(timeout(r, "01:35:02"))
		}
		return b.String()
	}
	run(t, []test{
		{"the one rank of a known world that reports nothing is suspected", world(4) + waited(0, 1, 3),
			"undetermined nccl-timeout; rank 2 by absence; graphs undetermined, possible; 3 fell: ranks 0, 1, 3; asks silent-rank-log"},
		{"a rank that printed before and not now", "[rank2]: step 1\n" + waited(0, 1, 3),
			"undetermined nccl-timeout; rank 2 by absence; graphs undetermined, possible; 3 fell: ranks 0, 1, 3; asks silent-rank-log"},
		{"two silent ranks of twelve: both are suspected", world(12) + waited(0, 1, 2, 3, 4, 6, 7, 9, 10, 11),
			"undetermined nccl-timeout and rank 5 by absence and rank 8 by absence; graphs undetermined, possible; 10 fell: ranks 0-4, 6, 7, 9-11; asks silent-rank-log"},
		{"two silent ranks: no suspect", world(4) + waited(0, 1),
			"undetermined nccl-timeout; graphs undetermined, possible; 2 fell: ranks 0, 1; asks rank-that-did-not-join"},
		{"nobody knows the world: no suspect", waited(0, 1, 3),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},
		{"all ranks waited: none is known to have only suffered", world(2) + waited(0, 1),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},
		{"the rank that lags in enqueued work", waited(0, 1, 2, 3) + status(0, 0, 16, 14) + status(1, 0, 16, 14) + status(2, 0, 14, 14) + status(3, 0, 16, 14),
			"undetermined nccl-timeout; rank 2 at line 7; graphs undetermined, possible; 3 fell: ranks 0, 1, 3; asks silent-rank-log"},
		{"counters of several groups do not compare", waited(0, 1, 2, 3) + status(0, 0, 16, 14) + status(1, 0, 16, 14) + status(2, 3, 2, 2) + status(3, 0, 16, 14),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},
		{"of two ranks either may have left the plan", waited(0, 1) + status(0, 0, 16, 14) + status(1, 0, 14, 14),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},
		{"the others differ too: nobody stands out", waited(0, 1, 2) + status(0, 0, 16, 14) + status(1, 0, 15, 14) + status(2, 0, 14, 14),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},
		{"-1 is no count", waited(0, 1, 2) + status(0, 0, 16, 14) + status(1, 0, 16, 14) + status(2, 0, -1, -1),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},
		{"a peer that closed its connection", "[rank3]:[E1118 03:45:21.900220621 ProcessGroupNCCL.cpp:554] [Rank 3] Collective WorkNCCL(SeqNum=412, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, NCCL version 2.26.5\n",
			"undetermined nccl-error; graphs undetermined, possible; 1 fell: ranks 3; asks peer-log"},
	})
}

func TestLauncher(t *testing.T) {
	sigterm := func(pids ...int) string {
		var b strings.Builder
		for _, pid := range pids {
			fmt.Fprintf(&b, "W1125 01:25:03.184000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process %d closing signal SIGTERM\n", pid)
		}
		return b.String()
	}
	failed := func(local, pid, code int) string {
		return fmt.Sprintf("E1125 01:25:03.190000 1201 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: %d) local_rank: %d (pid: %d) of binary: /usr/bin/python3\n", code, local, pid)
	}
	run(t, []test{
		{"a traceback without a rank is that of the only worker that failed by itself", outside + sigterm(1287, 1289) + failed(1, 1288, 1) + fmt.Sprintf(table, 1, 1288),
			"diagnosed cuda-oom; rank 1 at line 4; graphs no, confirmed; 2 fell: ranks 0, 2"},
		{"a claim is not used against the line that states the failure", rank(3, outside) + "[rank0]: x\n" + fmt.Sprintf(table, 0, 1287),
			"diagnosed cuda-oom; rank 3 at line 4; graphs no, confirmed; 1 fell: ranks 0"},
		{"two workers failed by themselves: no rank", outside + failed(1, 1288, 1) + "  rank      : 2 (local_rank: 2)\n  exitcode  : 1 (pid: 1289)\n" + fmt.Sprintf(table, 1, 1288),
			"undetermined cuda-oom; nobody at line 4; graphs no, likely; asks rank-map"},
		{"DeepSpeed's launcher ends all of its processes, the initiator's too", "[2026-09-22 10:11:04,121] [INFO] [launch.py:165:main] dist_world_size=2\n" + outside +
			"[2026-09-22 10:15:04,120] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 4240\n[2026-09-22 10:15:04,121] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 4241\n",
			"undetermined cuda-oom; nobody at line 5; graphs no, likely; asks rank-map"},
		{"only the launcher speaks, of one exit with code 1", fmt.Sprintf(table, 1, 1288),
			"undetermined; rank 1 by absence; graphs undetermined, possible; asks own-log"},
		{"only the launcher speaks, of an abort, as victims end", strings.Replace(fmt.Sprintf(table, 1, 1288), "exitcode  : 1 ", "exitcode  : -6 ", 1),
			"undetermined; graphs undetermined, possible; asks lines-above"},
		{"a system's line that names nobody gives way to a process", "slurmstepd: error: Detected 1 oom_kill event in StepId=90211.0. Some of the step tasks have been OOM Killed.\nsrun: error: cn-24: task 12: Out Of Memory\n0: a\n12: b\n13: c\n",
			"diagnosed host-oom; rank 12 at line 2; graphs no, confirmed"},
	})
}

func TestPhase(t *testing.T) {
	oomIn := func(frames string) string {
		return "Traceback (most recent call last):\n" + frames + "RuntimeError: CUDA error: out of memory\n"
	}
	frame := func(path, function, text string) string {
		return fmt.Sprintf("  File \"%s\", line 1, in %s\n    %s\n", path, function, text)
	}
	const inCapture = "diagnosed cuda-graph-capture-oom; rank 0 at line %d; graphs yes, confirmed"
	in := func(line int) string { return fmt.Sprintf(inCapture, line) }
	// An engine's traceback alone may be of one process of several.
	stack := func(line int) string { return strings.Replace(in(line), "rank 0", "nobody", 1) }
	const undecided = "undetermined cuda-oom; rank 0 at line 4; graphs undetermined, likely; asks per-pool-bytes"
	// Without a traceback it may have been inside a capture as well.
	const unknown = "undetermined cuda-oom; rank 0 at line 4; graphs undetermined, possible; asks per-pool-bytes"
	run(t, []test{
		{"a source line that captures", oomIn(frame("/app/a.py", "f", "with torch.cuda.graph(g, pool=pool):")), in(4)},
		{"torch's own frames: __exit__", oomIn(frame("/opt/lib/python3.12/site-packages/torch/cuda/graphs.py", "__exit__", "self.cuda_graph.capture_end()")), in(4)},
		{"torch's own frames: __enter__", oomIn(frame("/opt/lib/python3.12/site-packages/torch/cuda/graphs.py", "__enter__", "torch.cuda.empty_cache()")), in(4)},
		{"make_graphed_callables", oomIn(frame("/opt/te/graph.py", "_make_graphed_callables", "x()")), in(4)},
		{"cudagraph trees", oomIn(frame("/opt/lib/python3.12/site-packages/torch/_inductor/cudagraph_trees.py", "_record", "static_outputs = model(inputs)")), in(4)},
		{"vLLM's capture", oomIn(frame("/opt/lib/python3.12/site-packages/vllm/v1/worker/gpu_model_runner.py", "capture_model", "x()")), stack(4)},
		{"SGLang's capture", oomIn(frame("/sgl/sglang/srt/model_executor/cuda_graph_runner.py", "capture_one_batch_size", "x()")), stack(4)},
		{"Megatron's capture", oomIn(frame("/opt/megatron/core/transformer/cuda_graphs.py", "create_fwd_graph", "x()")), stack(4)},
		{"a graph that is instantiated later", oomIn(frame("/opt/lib/python3.12/site-packages/torch/cuda/graphs.py", "instantiate", "super().instantiate()")), in(4)},
		{"LMDeploy's capture of a size that comes up for the first time", oomIn(frame("/opt/lib/python3.12/site-packages/lmdeploy/pytorch/backends/cuda/graph_runner.py", "capture", "self.model(**padded_kwargs)")), in(4)},
		{"vLLM V0's capture", oomIn(frame("/opt/lib/python3.12/site-packages/vllm/worker/model_runner.py", "capture", "self.model(")), stack(4)},
		{"a capture of something else", oomIn(frame("/app/video/screen.py", "capture", "grab()")), undecided},
		{"Megatron's whole iteration, whose capture has begun", "INFO:megatron.core.full_cuda_graph:Capture CUDA graph for validation!!!\n" +
			oomIn(frame("/opt/megatron/core/full_cuda_graph.py", "__call__", "FullCudaGraphWrapper.result[training_str] = self.forward_backward_func(")), stack(5)},
		{"Megatron's whole iteration, with no capture seen to begin", oomIn(frame("/opt/megatron/core/full_cuda_graph.py", "__call__", "FullCudaGraphWrapper.result[training_str] = self.forward_backward_func(")),
			strings.Replace(unknown, "rank 0", "nobody", 1)},
		{"ggml's capture", "CUDA error: out of memory\n  current device: 0, in function ggml_cuda_graph_evaluate_and_capture at ggml-cuda.cu:4017\n", in(1)},
		{"another function of ggml", "CUDA error: out of memory\n  current device: 0, in function ggml_cuda_mul_mat at ggml-cuda.cu:1882\n", strings.Replace(unknown, "line 4", "line 1", 1)},
		{"a method is named with its class in Python 3.11", oomIn(frame("/opt/megatron/core/transformer/cuda_graphs.py", "_CudaGraphRunner.create_fwd_graph", "x()")), stack(4)},
		{"__exit__ of something else", oomIn(frame("/app/context.py", "__exit__", "x()")), undecided},
		{"warm-up and dummy runs prove nothing", oomIn(frame("/opt/vllm/v1/worker/gpu_model_runner.py", "_dummy_run", "x()")), strings.Replace(undecided, "rank 0", "nobody", 1)},
		{"no frame inside a capture", outside, "diagnosed cuda-oom; rank 0 at line 4; graphs no, confirmed"},
		{"progress that begins and does not end", "Capturing CUDA graphs (PIECEWISE):  31%|███▏      | 16/51 [00:07<00:15,  2.27it/s]\n" + "RuntimeError: CUDA error: out of memory\n", in(2)},
		{"progress that ended", "Capturing CUDA graphs (PIECEWISE): 100%|██████████| 51/51 [00:07<00:15,  2.27it/s]\nGraph capturing finished in 21 secs, took 0.62 GiB\nx\nRuntimeError: CUDA error: out of memory\n", unknown},
		{"progress of another rank", "[rank0]: x\n[rank1]: Capturing CUDA graphs (PIECEWISE):  31%|███▏      | 16/51 [00:07<00:15,  2.27it/s]\n[rank2]: y\n" + "[rank0]: RuntimeError: CUDA error: out of memory\n", unknown},
		{"SGLang's wrapper around its own failure", `Traceback (most recent call last):
  File "/sgl/sglang/srt/layers/linear.py", line 3, in forward
    x()
RuntimeError: CUDA error: out of memory

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/sgl/sglang/srt/managers/scheduler.py", line 2215, in run_scheduler_process
    scheduler = Scheduler(
Exception: Capture cuda graph failed: CUDA error: out of memory
`, stack(4)},
		{"a fault in a replay", "Traceback (most recent call last):\n" + frame("/app/serve.py", "step", "self.graph.replay()") + "torch.AcceleratorError: CUDA error: an illegal memory access was encountered\n",
			"diagnosed cuda-graph-replay-fault; rank 0 at line 4; graphs no, confirmed; asks faulting-kernel"},
		{"a fault elsewhere", "Traceback (most recent call last):\n" + frame("/app/serve.py", "step", "loss.item()") + "torch.AcceleratorError: CUDA error: an illegal memory access was encountered\n",
			"diagnosed cuda-error-async; rank 0 at line 4; graphs no, confirmed; asks faulting-kernel"},
	})
}

// oomOf is an out-of-memory message with figures, outside of any capture.
func oomOf(requested, allocated, pools, unallocated string) string {
	if pools != "" {
		pools = "with " + pools + " allocated in private pools (e.g., CUDA Graphs), "
	}
	return fmt.Sprintf(`Traceback (most recent call last):
  File "/app/train.py", line 77, in <module>
    optimizer.step()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %s. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free. Process 900 has 78.08 GiB memory in use. Of the allocated memory %s is allocated by PyTorch, %sand %s is reserved by PyTorch but unallocated.
`, requested, allocated, pools, unallocated)
}

// The table of the out-of-memory verdicts outside of captures.
func TestGraphPoolQuestion(t *testing.T) {
	const captured = "Graph capturing finished in 21 secs, took 0.62 GiB\n"
	run(t, []test{
		{"pools hold more than half of what is reserved", oomOf("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"),
			"diagnosed cuda-graph-pool-growth; rank 0 at line 4; graphs yes, likely"},
		{"pools cover the request and a sixth of the card, and graphs were captured", captured + oomOf("2.00 GiB", "74.00 GiB", "14.00 GiB", "80.00 MiB"),
			"diagnosed cuda-graph-pool-growth; rank 0 at line 5; graphs yes, likely"},
		{"the same, but no capture is seen", oomOf("2.00 GiB", "74.00 GiB", "14.00 GiB", "80.00 MiB"),
			"undetermined cuda-oom; rank 0 at line 4; graphs undetermined, possible; asks per-pool-bytes"},
		{"reserved but unallocated covers the request and exceeds the pools", oomOf("2.00 GiB", "58.10 GiB", "1.20 GiB", "18.90 GiB"),
			"diagnosed cuda-oom-fragmentation; rank 0 at line 4; graphs no, confirmed"},
		{"pools hold next to nothing", oomOf("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"),
			"diagnosed cuda-oom; rank 0 at line 4; graphs no, confirmed"},
		{"the clause is absent in a release that prints it", oomOf("2.00 GiB", "77.30 GiB", "", "120.00 MiB"),
			"diagnosed cuda-oom; rank 0 at line 4; graphs no, confirmed"},
		{"the clause is absent in a release that may not know it", strings.Replace(oomOf("2.00 GiB", "77.30 GiB", "", "120.00 MiB"), "torch.Out", "torch.cuda.Out", 1),
			"undetermined cuda-oom; rank 0 at line 4; graphs undetermined, possible; asks per-pool-bytes"},
		{"pools are neither small nor large", oomOf("2.00 GiB", "74.00 GiB", "6.00 GiB", "80.00 MiB"),
			"undetermined cuda-oom; rank 0 at line 4; graphs undetermined, likely; asks per-pool-bytes"},
		{"pools cover the request: that alone proves nothing", captured + oomOf("2.00 MiB", "74.00 GiB", "6.00 GiB", "1.00 MiB"),
			"undetermined cuda-oom; rank 0 at line 5; graphs undetermined, likely; asks per-pool-bytes"},
		{"the log says that graphs are off", "Cudagraph is disabled under eager mode\n" + oomOf("2.00 GiB", "74.00 GiB", "6.00 GiB", "80.00 MiB"),
			"diagnosed cuda-oom; rank 0 at line 5; graphs no, confirmed"},
		{"the driver's text prints no sizes", "Traceback (most recent call last):\n  File \"/app/a.py\", line 1, in f\n    x()\nRuntimeError: CUDA error: out of memory\n",
			"undetermined cuda-oom; rank 0 at line 4; graphs undetermined, likely; asks per-pool-bytes"},
		{"nothing failed, but memory rose at four captures", captures(10, 14, 18, 22),
			"diagnosed cuda-graph-pool-growth; rank 0 at line 2; graphs yes, likely"},
		{"a healthy run: one rise at the first capture", captures(10, 14, 14, 14, 14),
			"no_failure_found; graphs undetermined, possible"},
	})
}

func captures(reserved ...float64) string {
	var b strings.Builder
	for i, r := range reserved {
		fmt.Fprintf(&b, "[graphs] captured signature (%d, 3, 320, 320) in 0.76s | reserved %.2f GiB | allocated 3.50 GiB | graphs held %d\n", i+1, r, i+1)
	}
	return b.String()
}
