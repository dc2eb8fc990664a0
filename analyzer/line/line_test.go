package line

import (
	"fmt"
	"strings"
	"testing"
)

// facts writes what is known of a piece, besides its text, on one line:
// "rank=3 local=1 pid=77 host=n1 process=Worker_TP0 stream=stderr level=E source=a.cpp:1 time=...".
func facts(p Piece) string {
	var out []string
	number := func(name string, n *int) {
		if n != nil {
			out = append(out, fmt.Sprintf("%s=%d", name, *n))
		}
	}
	word := func(name, s string) {
		if s != "" {
			out = append(out, name+"="+s)
		}
	}
	number("rank", p.Origin.Rank)
	number("local", p.Origin.LocalRank)
	number("pid", p.Origin.PID)
	word("host", p.Origin.Host)
	word("process", p.Origin.Process)
	word("stream", p.Origin.Stream)
	if p.Level != 0 {
		word("level", string(p.Level))
	}
	word("source", p.Source)
	word("time", p.Stamp.Text)
	return strings.Join(out, " ")
}

// one decodes a line that is one piece.
func one(t *testing.T, raw string, layout Layout) Piece {
	t.Helper()
	pieces := Decode([]byte(raw), layout)
	if len(pieces) != 1 {
		t.Fatalf("Decode(%q) gives %d pieces, want 1", raw, len(pieces))
	}
	return pieces[0]
}

func TestLayouts(t *testing.T) {
	tests := []struct {
		name, raw, text, facts string
	}{
		// PyTorch
		{"excepthook", `[rank3]: Traceback (most recent call last):`,
			`Traceback (most recent call last):`, "rank=3"},
		{"excepthook keeps the indent", `[rank3]:   File "/app/train.py", line 88, in capture`,
			`  File "/app/train.py", line 88, in capture`, "rank=3"},
		{"excepthook, empty line", `[rank3]:`, ``, "rank=3"},
		{"c10d", `[rank3]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=15, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.`,
			`[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=15, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.`,
			"rank=3 level=E source=ProcessGroupNCCL.cpp:683 time=1125 01:25:02.000218549"},
		{"c10d, month not padded", `[rank0]:[E624 22:12:40.310223437 ProcessGroupNCCL.cpp:2057] [PG ID 2 PG GUID 3 Rank 0] x`,
			`[PG ID 2 PG GUID 3 Rank 0] x`, "rank=0 level=E source=ProcessGroupNCCL.cpp:2057 time=624 22:12:40.310223437"},
		{"c10d before init", `[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] x`,
			`x`, "level=E source=ProcessGroupNCCL.cpp:683 time=1125 01:25:02.000218549"},
		{"c10d of torch 2.3 without a time", `[rank1]:[E ProcessGroupNCCL.cpp:523] [Rank 1] x`,
			`[Rank 1] x`, "rank=1 level=E source=ProcessGroupNCCL.cpp:523"},
		{"c10d of torch 2.1 without a prefix: the group rank is all there is", `[E ProcessGroupNCCL.cpp:457] [Rank 3] x`,
			`[Rank 3] x`, "rank=3 level=E source=ProcessGroupNCCL.cpp:457"},
		{"glog with a thread id", `[rank1]:[W1204 11:22:33.444555666 4711 CUDAGraph.cpp:145] Warning: x`,
			`Warning: x`, "rank=1 level=W source=CUDAGraph.cpp:145 time=1204 11:22:33.444555666"},
		{"torch logging in a worker", `[rank2]:W1128 12:00:00.123000 9911 torch/_inductor/utils.py:1436] Not enough SMs to use max_autotune_gemm mode`,
			`Not enough SMs to use max_autotune_gemm mode`, "rank=2 pid=9911 level=W source=torch/_inductor/utils.py:1436 time=1128 12:00:00.123000"},
		{"torchrun's agent", `W1220 03:44:31.184000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 1287 closing signal SIGTERM`,
			`Sending process 1287 closing signal SIGTERM`, "pid=1201 level=W source=torch/distributed/elastic/multiprocessing/api.py:900 time=1220 03:44:31.184000"},
		{"torchrun's agent without a pid", `E1128 04:23:22.305000 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 3 (pid: 41221) of binary: /usr/bin/python3`,
			`failed (exitcode: 1) local_rank: 3 (pid: 41221) of binary: /usr/bin/python3`, "level=E source=torch/distributed/elastic/multiprocessing/api.py:869 time=1128 04:23:22.305000"},
		{"Triton's server quotes its messages", `E0605 08:13:04.380577 123 backend_model.cc:692] "ERROR: Failed to create instance: x`,
			`ERROR: Failed to create instance: x`, "level=E source=backend_model.cc:692 time=0605 08:13:04.380577"},
		{"Determined, a process of a trial", `[2026-05-19T08:22:57.171444Z] 5c1f0a7e [rank=1] || [rank1]: RuntimeError: x`,
			`RuntimeError: x`, "rank=1 time=2026-05-19T08:22:57.171444Z"},
		{"Determined, the container", `[2026-05-19T08:22:57.171444Z] 5c1f0a7e || x`, `x`, "time=2026-05-19T08:22:57.171444Z"},
		{"a time and a condition are no label of Determined's", `[2026-05-19T08:22:57Z] if a || b then`, `if a || b then`, "time=2026-05-19T08:22:57Z"},

		// Launchers
		{"torchrun --tee", `[default2]:step 10 loss 6.912`, `step 10 loss 6.912`, "local=2"},
		{"torchrun --tee of a role", `[trainer0]:step 10 loss 6.912`, `step 10 loss 6.912`, "local=0"},
		{"local and global rank", `[default3]:[rank11]: RuntimeError: x`, `RuntimeError: x`, "rank=11 local=3"},
		{"torchrun with a prefix template", `[3]:step 10 loss 6.912`, `step 10 loss 6.912`, "rank=3"},
		{"mpirun", `[1,3]<stdout>:step 10`, `step 10`, "rank=3 stream=stdout"},
		{"mpirun diagnostics", `[1,12]<stddiag>:x`, `x`, "rank=12 stream=stddiag"},
		{"horovodrun", `[3]<stderr>:Traceback (most recent call last):`, `Traceback (most recent call last):`, "rank=3 stream=stderr"},
		{"horovodrun with a time", `Thu Nov 12 01:54:27 2026[2]<stderr>:command terminated with exit code 137`,
			`command terminated with exit code 137`, "rank=2 stream=stderr time=Thu Nov 12 01:54:27 2026"},
		{"NeMo-Run", `nemotron_8gpu_perf/0 [rank5]: torch.OutOfMemoryError: CUDA out of memory.`,
			`torch.OutOfMemoryError: CUDA out of memory.`, "rank=5"},
		{"accelerate's logger", `[RANK 2] loaded checkpoint`, `loaded checkpoint`, "rank=2"},
		{"DeepSpeed's launcher", `[2026-09-22 10:11:04,120] [INFO] [launch.py:272:main] dist_world_size=8`,
			`[launch.py:272:main] dist_world_size=8`, "level=I time=2026-09-22 10:11:04,120"},
		{"Lightning", `[rank: 3] Received SIGTERM: 15`, `[rank: 3] Received SIGTERM: 15`, "rank=3"},

		// Transports
		{"CRI", `2026-05-05T22:09:25.010000000Z stderr F [rank4]: Traceback (most recent call last):`,
			`Traceback (most recent call last):`, "rank=4 stream=stderr time=2026-05-05T22:09:25.010000000Z"},
		{"docker json-file", `{"log":"[rank1]: Traceback (most recent call last):\n","stream":"stderr","time":"2026-11-23T08:14:44.400000000Z"}`,
			`Traceback (most recent call last):`, "rank=1 stream=stderr time=2026-11-23T08:14:44.400000000Z"},
		{"Rust's tracing", `{"timestamp":"2025-03-06T19:04:01.981266Z","level":"ERROR","fields":{"message":"Shard process was signaled to shutdown with signal 9"},"target":"text_generation_launcher","span":{"rank":1,"name":"shard-manager"},"spans":[{"rank":1}]}`,
			`Shard process was signaled to shutdown with signal 9`, "rank=1 level=E time=2025-03-06T19:04:01.981266Z"},
		{"docker json-file with blanks", `{"log": "[rank1]: x\n", "stream": "stdout", "time": "2026-11-23T08:14:44.400000000Z"}`,
			`x`, "rank=1 stream=stdout time=2026-11-23T08:14:44.400000000Z"},
		{"docker compose", `trainer-worker-1  | [rank3]: x`, `x`, "rank=3 host=trainer-worker-1"},
		{"kubectl logs --prefix", `[pod/trainer-worker-7/pytorch] [rank7]: x`, `x`, "rank=7 host=trainer-worker-7"},
		{"kubectl logs --timestamps keeps the indent", `2025-12-02T06:31:48.301100004Z     with torch.cuda.graph(g):`,
			`    with torch.cuda.graph(g):`, "time=2025-12-02T06:31:48.301100004Z"},
		{"Google Cloud", `ERROR 2025-12-02T06:31:48.301100004Z [resource.labels.containerName: vllm] (EngineCore_DP0 pid=311) ERROR 12-02 06:31:48 [core.py:718] x`,
			`x`, "pid=311 process=EngineCore_DP0 level=E source=core.py:718 time=2025-12-02T06:31:48.301100004Z"},
		{"dmesg -T", `[Thu Mar 11 20:02:51 2021] NVRM: Xid (PCI:0000:af:00): 79, pid=11873, GPU has fallen off the bus.`,
			`NVRM: Xid (PCI:0000:af:00): 79, pid=11873, GPU has fallen off the bus.`, "time=Thu Mar 11 20:02:51 2021"},
		{"dmesg", `[12345.678901] Out of memory: Killed process 4417 (python) total-vm:81234567kB`,
			`Out of memory: Killed process 4417 (python) total-vm:81234567kB`, "time=12345.678901"},

		// Serving
		{"vLLM V0 driver", `INFO 09-02 18:22:03 model_runner.py:732] Loading model weights took 2.3511 GB`,
			`Loading model weights took 2.3511 GB`, "level=I source=model_runner.py:732 time=09-02 18:22:03"},
		{"NeMo-RL's actors name their rank", `(MegatronPolicyWorker[rank=8] pid=3294808, ip=10.109.19.209) step 1`, `step 1`, "rank=8 pid=3294808 host=10.109.19.209 process=MegatronPolicyWorker"},
		{"a name with another index", `(Worker[gpu=8] pid=32) step 1`, `(Worker[gpu=8] pid=32) step 1`, ""},
		{"vLLM V1", `ERROR 07-19 02:44:22 [multiproc_executor.py:470] WorkerProc hit an exception.`,
			`WorkerProc hit an exception.`, "level=E source=multiproc_executor.py:470 time=07-19 02:44:22"},
		{"vLLM keeps the indent of a traceback", `(Worker_TP2 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671]   File "/opt/vllm/a.py", line 1, in f`,
			`  File "/opt/vllm/a.py", line 1, in f`, "pid=143 process=Worker_TP2 level=E source=multiproc_executor.py:671 time=11-30 01:02:03"},
		{"vLLM V0 helper", `(VllmWorkerProcess pid=9143) WARNING 09-02 18:22:03 custom_all_reduce.py:143] x`,
			`x`, "pid=9143 process=VllmWorkerProcess level=W source=custom_all_reduce.py:143 time=09-02 18:22:03"},
		{"vLLM 0.8 worker", `(VllmWorker rank=3 pid=7719) INFO 07-19 02:44:20 [gpu_model_runner.py:1] x`,
			`x`, "rank=3 pid=7719 process=VllmWorker level=I source=gpu_model_runner.py:1 time=07-19 02:44:20"},
		{"vLLM over Ray", `(RayWorkerWrapper pid=4402, ip=10.0.7.28) ERROR 09-02 18:22:03 worker_base.py:464] x`,
			`x`, "pid=4402 host=10.0.7.28 process=RayWorkerWrapper level=E source=worker_base.py:464 time=09-02 18:22:03"},
		{"vLLM chained prefixes: the inner process printed", `(EngineCore_DP0 pid=311) (RayWorkerWrapper pid=4402) x`,
			`x`, "pid=4402 process=RayWorkerWrapper"},
		{"Ray actor", `(WorkerDict pid=1873, ip=10.0.7.28) step 3`, `step 3`, "pid=1873 host=10.0.7.28 process=WorkerDict"},
		{"Ray merges lines", `(RayWorkerWrapper pid=6088) Graph capturing finished in 20 secs [repeated 3x across cluster]`,
			`Graph capturing finished in 20 secs`, "pid=6088 process=RayWorkerWrapper"},
		{"syslog", `Nov 28 04:13:22 gpu-node-3 trainer[4417]: [rank3]: x`, `x`, "rank=3 pid=4417 host=gpu-node-3 time=Nov 28 04:13:22"},
		{"the kernel in syslog", `Nov  8 04:13:22 gpu-node-3 kernel: NVRM: Xid (PCI:0000:af:00): 79, pid=11873, x`,
			`NVRM: Xid (PCI:0000:af:00): 79, pid=11873, x`, "host=gpu-node-3 time=Nov  8 04:13:22"},
		{"Ray on a paste without ESC keeps its text", `(raylet, ip=10.0.7.57) A worker died`, `A worker died`, "host=10.0.7.57 process=raylet"},
		{"SGLang", `[2026-10-30 07:03:54 TP6] Load weight end.`, `Load weight end.`, "process=TP6 time=2026-10-30 07:03:54"},
		{"SGLang with all dimensions", `[2026-10-30 07:02:54 DP1 TP1 EP1] x`, `x`, "process=DP1 TP1 EP1 time=2026-10-30 07:02:54"},
		{"SGLang's main process", `[2026-10-30 07:02:54] server_args=ServerArgs()`, `server_args=ServerArgs()`, "time=2026-10-30 07:02:54"},
		{"TensorRT-LLM", `[11/28/2026-04:13:22] [TRT-LLM] [I] x`, `x`, "level=I source=TRT-LLM time=11/28/2026-04:13:22"},
		{"TensorRT-LLM 1.x", `[TRT-LLM] [RANK 3] [E] x`, `x`, "rank=3 level=E source=TRT-LLM"},
		{"TGI", `2026-11-28T04:13:22.150Z  INFO text_generation_launcher: x`, `text_generation_launcher: x`, "level=I time=2026-11-28T04:13:22.150Z"},

		// Training frameworks
		{"Megatron's leading blank", ` [2026-11-18 03:44:10] iteration        1/     500 | consumed samples: 64`,
			`iteration        1/     500 | consumed samples: 64`, "time=2026-11-18 03:44:10"},
		{"Megatron's memory report", `[Rank 8] (after 1 iterations) memory (MB) | allocated: 41205.87`,
			`[Rank 8] (after 1 iterations) memory (MB) | allocated: 41205.87`, "rank=8"},
		{"Megatron's module logger", `INFO:megatron.core.transformer.cuda_graphs:Start CUDA Graphs capture...`,
			`Start CUDA Graphs capture...`, "level=I source=megatron.core.transformer.cuda_graphs"},
		{"NeMo", `[NeMo E 2026-08-02 11:08:20 train:188 rank:1] x`, `x`, "rank=1 level=E source=train:188 time=2026-08-02 11:08:20"},
		{"NeMo without a rank", `[NeMo W 2026-08-02 11:08:20 nemo_logging:349] x`, `x`, "level=W source=nemo_logging:349 time=2026-08-02 11:08:20"},
		{"Horovod's core", `[2026-11-12 01:54:57.532908: E /scratch/horovod/common/operations.cc:525] Horovod background loop uncaught exception`,
			`Horovod background loop uncaught exception`, "time=2026-11-12 01:54:57.532908"},
		{"hand-written logger", `2026-11-28 04:13:22,150 | INFO | dataloader.py:188 | x`, `dataloader.py:188 | x`, "level=I time=2026-11-28 04:13:22,150"},
		{"hand-written logger with a rank", `2026-07-14 09:31:10,000 INFO  [rank 0] graph entry 1/96`, `[rank 0] graph entry 1/96`, "rank=0 level=I time=2026-07-14 09:31:10,000"},
		{"a short date", `12-08 15:44:30 epoch 0 step 100/4120 loss 1.7204`, `epoch 0 step 100/4120 loss 1.7204`, "time=12-08 15:44:30"},

		// NCCL: the bracket is the device of the calling thread, no rank.
		{"NCCL", `gpu-a02:4054:4910 [4] NCCL INFO [Service thread] Connection closed by localRank 1`,
			`NCCL INFO [Service thread] Connection closed by localRank 1`, "pid=4054 host=gpu-a02"},
		{"NCCL warning", `gpu-a02:4054:4910 [4] enqueue.cc:1024 NCCL WARN Cuda failure 'out of memory'`,
			`enqueue.cc:1024 NCCL WARN Cuda failure 'out of memory'`, "pid=4054 host=gpu-a02"},
		{"NCCL on a host named by number", `10.0.0.4:4054:4910 [4] NCCL INFO x`, `NCCL INFO x`, "pid=4054 host=10.0.0.4"},
		{"NCCL behind the rank", `[rank0]: node-00:41200:41500 [0] NCCL INFO x`, `NCCL INFO x`, "rank=0 pid=41200 host=node-00"},

		// Nested: all values are kept, the inner rank counts.
		{"CRI, tee, excepthook, c10d", `2026-05-05T22:09:25.01Z stderr F [default1]:[rank9]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] [Rank 1] x`,
			`[Rank 1] x`, "rank=9 local=1 stream=stderr level=E source=ProcessGroupNCCL.cpp:683 time=2026-05-05T22:09:25.01Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := one(t, tt.raw, Layout{})
			if p.Text != tt.text {
				t.Errorf("text %q, want %q", p.Text, tt.text)
			}
			if got := facts(p); got != tt.facts {
				t.Errorf("facts %q, want %q", got, tt.facts)
			}
		})
	}
}

// Lines that look like a prefix and are none keep all of their text.
func TestLookAlikes(t *testing.T) {
	tests := []struct{ name, raw string }{
		{"an entry of torchrun's failure table", `[0]:`},
		{"a list", `[3]: three`},
		{"a desync report", `  [3] finished collective #411, but didn't join collective #412 (count from 1)`},
		{"a key in brackets", `[default]: no number`},
		{"an error number", `[Errno 12]: Cannot allocate memory`},
		{"a tensor", `[1, 2, 3]`},
		{"a date without a bracket behind it", `[2026-10-30 07:03:54`},
		{"a date in a list", `[2026-10-30, 2026-10-31] are the days`},
		{"a remark", `(see the guide) x`},
		{"a call", `(a=1, b=2) x`},
		{"a pid in a remark", `(the old pid=old) x`},
		{"a ratio", `3: three`},
		{"a level without a logger", `ERROR: no space left on device`},
		{"a level in prose", `INFO is printed by default`},
		{"a word and a bar", `loss | 3.2`},
		{"a row of a table", `rank-0 memory | 12.4`},
		{"a path and a number", `checkpoints/3 saved`},
		{"a version", `torch 2.9.1`},
		{"a mail address and a port", `node:29500 [info] ready`},
		{"an IPv6 address", `fe80:1:2 [x] ready`},
		{"JSON that says nothing of who", `{"loss": 1.2, "step": 3}`},
		{"docker JSON without its end", `{"log":"[rank1]: x`},
		{"docker JSON with a number", `{"log": 3}`},
		{"a rank too long to be one", `[rank12345678]: x`},
		{"a rank without a number", `[rank]: x`},
		{"a rank in prose", `waiting for [rank3]: it is late`},
		{"an empty line", ``},
		{"one blank", ` `},
		{"a lone bracket", `[`},
		{"a lone parenthesis", `(`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := one(t, tt.raw, Layout{})
			if p.Text != tt.raw || p.Prefixed || facts(p) != "" {
				t.Errorf("text %q, facts %q", p.Text, facts(p))
			}
		})
	}
}

func TestInnerRankIsNotTheGlobalRank(t *testing.T) {
	p := one(t, `[rank1]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] [Rank 12] Watchdog caught x`, Layout{})
	if facts(p) != "rank=1 level=E source=ProcessGroupNCCL.cpp:683 time=1125 01:25:02.000218549" || p.Origin.RankFrom != "outer prefix" {
		t.Errorf("%s, from %q", facts(p), p.Origin.RankFrom)
	}
	p = one(t, `[E ProcessGroupNCCL.cpp:457] [Rank 12] Watchdog caught x`, Layout{})
	if p.Origin.RankFrom != "group rank in the message" {
		t.Errorf("a rank in a group must be marked as one: from %q", p.Origin.RankFrom)
	}
}

func TestTaskLabels(t *testing.T) {
	tests := []struct{ raw, text, facts string }{
		{` 3: [rank3]: x`, `x`, "rank=3"},
		{`12: step 1`, `step 1`, "rank=12"},
		{`003: step 1`, `step 1`, "rank=3"},
		{`3:`, ``, "rank=3"},
		{`3:   File "/app/train.py", line 1, in f`, `  File "/app/train.py", line 1, in f`, "rank=3"},
		{`3: 2026-11-28 04:13:22,150 INFO x`, `x`, "rank=3 level=I time=2026-11-28 04:13:22,150"},
		{`srun: error: cn-24: task 12: Out Of Memory`, `srun: error: cn-24: task 12: Out Of Memory`, "source=srun"},
		{`3:x`, `3:x`, ""},
	}
	for _, tt := range tests {
		p := one(t, tt.raw, Layout{TaskLabel: true})
		if p.Text != tt.text || facts(p) != tt.facts {
			t.Errorf("%q gives %q with %q, want %q with %q", tt.raw, p.Text, facts(p), tt.text, tt.facts)
		}
	}
}

func TestHostAndPodLabels(t *testing.T) {
	tests := []struct {
		raw, text, facts string
		layout           Layout
	}{
		{`gpu-node-3: [rank3]: x`, `x`, "rank=3 host=gpu-node-3", Layout{HostLabel: true}},
		{`gpu-node-3: step 10`, `gpu-node-3: step 10`, "", Layout{}},
		{`ValueError: x`, `ValueError: x`, "", Layout{HostLabel: true}},
		{`trainer-worker-3 pytorch [rank3]: x`, `x`, "rank=3 host=trainer-worker-3", Layout{PodLabel: true}},
		{`trainer-worker-3 pytorch x`, `trainer-worker-3 pytorch x`, "", Layout{}},
		{`1: [rank11]: x`, `x`, "rank=11 host=task 1", Layout{NodeLabel: true}},
		{`1: x`, `x`, "host=task 1", Layout{NodeLabel: true}},
		{`3: gpu-node-3: x`, `x`, "rank=3 host=gpu-node-3", Layout{TaskLabel: true, HostLabel: true}},
	}
	for _, tt := range tests {
		p := one(t, tt.raw, tt.layout)
		if p.Text != tt.text || facts(p) != tt.facts {
			t.Errorf("%q gives %q with %q, want %q with %q", tt.raw, p.Text, facts(p), tt.text, tt.facts)
		}
	}
}

func TestDetect(t *testing.T) {
	tests := []struct {
		name, log string
		want      Layout
	}{
		{"empty", "", Layout{}},
		{"srun --label", "0: a\n1: b\n\nsrun: error: cn-24: task 1: Out Of Memory\n0: c\n", Layout{TaskLabel: true}},
		{"srun --label, right-aligned", "  0: a\n 12: b\n", Layout{TaskLabel: true}},
		{"srun --label, a task is a node", "0: [rank3]: a\n1: [rank11]: b\n1: c\n", Layout{NodeLabel: true}},
		{"srun --label, torchrun in each task", "0: [default0]:a\n1: [default0]:b\n", Layout{NodeLabel: true}},
		{"srun --label, a task is a rank", "0: [rank0]: a\n1: [rank1]: b\n1: c\n", Layout{TaskLabel: true}},
		{"one task is no label", "0: a\n0: b\n", Layout{}},
		{"a numbered list", "a\nb\nc\n1: d\n2: e\n", Layout{}},
		{"clock times", "12:30:01 a\n12:30:02 b\n", Layout{}},
		{"pdsh", "gpu-1: a\ngpu-2: b\npdsh@head: gpu-1: ssh exited with exit code 1\n", Layout{HostLabel: true}},
		{"exceptions are no hosts", "ValueError: a\nKeyError: b\n", Layout{}},
		{"stern", "trainer-worker-3 pytorch a\ntrainer-worker-4 pytorch b\n", Layout{PodLabel: true}},
		{"prose", "the first-1 line of text\nand the second-2 line\n", Layout{}},
		{"coloured", "\x1b[36mgpu-1: \x1b[0ma\n\x1b[36mgpu-2: \x1b[0mb\n", Layout{HostLabel: true}},
	}
	for _, tt := range tests {
		if got := Detect([]byte(tt.log)); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// A structured logger's record gives its message, and its members tell who and when.
func TestJSONRecords(t *testing.T) {
	tests := []struct {
		name, raw string
		want      []string
	}{
		{"message, level, rank", `{"timestamp": "2026-11-23T08:14:44Z", "level": "ERROR", "rank": 3, "message": "step failed"}`,
			[]string{"rank=3 level=E time=2026-11-23T08:14:44Z step failed"}},
		{"a traceback in a member of its own", `{"msg": "step failed", "local_rank": 1, "pid": 77, "exc_info": "Traceback (most recent call last):\n  File \"/app/a.py\", line 1, in f\nValueError: x"}`,
			[]string{"local=1 pid=77 step failed", "local=1 pid=77 Traceback (most recent call last):", `local=1 pid=77   File "/app/a.py", line 1, in f`, "local=1 pid=77 ValueError: x"}},
		{"metrics: the text stays, the rank is read", `{"rank": 2, "loss": 1.2}`, []string{`rank=2 {"rank": 2, "loss": 1.2}`}},
		{"members of members are not its own", `{"extra": {"rank": 5}, "message": "x"}`, []string{"x"}},
		{"behind a container's prefix", `2026-05-05T22:09:25.01Z stderr F {"message": "x", "rank": 1}`, []string{"rank=1 stream=stderr time=2026-05-05T22:09:25.01Z x"}},
		{"Fluent Bit", `{"date":1773741603.0,"stream":"stderr","_p":"F","log":"[rank11]: x","kubernetes":{"pod_name":"moe-0","host":"ip-10-9-4-17"}}`,
			[]string{"rank=11 host=moe-0 stream=stderr x"}},
		{"Loki", `{"labels":{"app":"tts","pod":"tts-worker-1","stream":"stderr"},"line":"[rank4]: x","timestamp":"2026-04-14T19:06:07.500479999Z"}`,
			[]string{"rank=4 host=tts-worker-1 time=2026-04-14T19:06:07.500479999Z x"}},
		{"Google Cloud, structured", `{"insertId":"9","jsonPayload":{"attrs":{"tag":"workerpool1-1"},"levelname":"INFO","message":"[rank9]: x"},"resource":{"labels":{"task_name":"workerpool1-1"},"type":"ml_job"},"severity":"INFO","timestamp":"2026-04-21T06:41:37.006799999Z"}`,
			[]string{"rank=9 host=workerpool1-1 time=2026-04-21T06:41:37.006799999Z x"}},
		{"Google Cloud, plain", `{"resource":{"labels":{"pod_name":"a-0"},"type":"k8s_container"},"severity":"INFO","textPayload":"[rank2]: x\n","timestamp":"2026-04-21T06:41:37Z"}`,
			[]string{"rank=2 host=a-0 time=2026-04-21T06:41:37Z x"}},
		{"Kaggle's list, first", `[{"stream_name": "stderr", "time": 2.611, "data": "x\n"}`, []string{"stream=stderr x"}},
		{"Kaggle's list, further", `,{"stream_name": "stdout", "time": 3.1, "data": "x\n"}`, []string{"stream=stdout x"}},
		{"a line's number is no message", `{"file": "a.py", "line": "88", "message": "x"}`, []string{"x"}},
		{"cut off", `{"message": "x", "rank": 1, "y`, []string{"rank=1 x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := texts(Decode([]byte(tt.raw), Layout{}))
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestCRIPartialLine(t *testing.T) {
	if p := one(t, `2026-05-05T22:09:25.01Z stderr P first half`, Layout{}); !p.Partial || p.Text != "first half" {
		t.Errorf("%+v", p)
	}
	if p := one(t, `2026-05-05T22:09:25.01Z stderr F second half`, Layout{}); p.Partial || p.Text != "second half" {
		t.Errorf("%+v", p)
	}
	if p := one(t, `2026-05-05T22:09:25.01Z stderr X`, Layout{}); p.Origin.Stream != "" {
		t.Errorf("a tag that the format has not: %+v", p)
	}
}

func TestControlSequences(t *testing.T) {
	tests := []struct{ name, raw, text string }{
		{"colours", "\x1b[36m(Worker pid=3)\x1b[0m x\x1b[1;31;48;5;9m red\x1b[m", "x red"},
		{"cursor", "a\x1b[2K\x1b[1Gb", "ab"},
		{"title, ended by BEL", "\x1b]0;build\x07x", "x"},
		{"link, ended by ST", "\x1b]8;;https://example.org/a;b\x1b\\train.py\x1b]8;;\x1b\\ x", "train.py x"},
		{"device control", "\x1bP1$r0m\x1b\\x", "x"},
		{"two-byte escape", "\x1b7x\x1b8", "x"},
		{"cut off within a colour", "x\x1b[31", "x"},
		{"cut off behind ESC", "x\x1b", "x"},
		{"cut off within a title", "x\x1b]0;bui", "x"},
		{"NUL bytes", "to\x00rch\x00", "torch"},
		{"backspaces", "50%\x08\x08\x08x", "50%x"},
		{"invalid UTF-8 stays", "a\xff\xfeb", "a\xff\xfeb"},
		{"tabs stay", "a\tb", "a\tb"},
		{"CRLF", "x\r", "x"},
	}
	for _, tt := range tests {
		if p := one(t, tt.raw, Layout{}); p.Text != tt.text {
			t.Errorf("%s: %q, want %q", tt.name, p.Text, tt.text)
		}
	}
}

// The json-file driver writes ESC as \u001b.
func TestColoursInDockerJSON(t *testing.T) {
	p := one(t, `{"log":"\u001b[36m(WorkerDict pid=1873)\u001b[0m x\r\n","stream":"stderr","time":"2026-11-23T08:14:44.4Z"}`, Layout{})
	if p.Text != "x" || facts(p) != "pid=1873 process=WorkerDict stream=stderr time=2026-11-23T08:14:44.4Z" {
		t.Errorf("%q, %s", p.Text, facts(p))
	}
}

func TestDockerJSONEscapes(t *testing.T) {
	p := one(t, `{"log":"File \"/app/a.py\", line 1\\n\ttab \u00e9 \u003cmodule\u003e\n","stream":"stderr"}`, Layout{})
	if want := "File \"/app/a.py\", line 1\\n\ttab é <module>"; p.Text != want {
		t.Errorf("%q, want %q", p.Text, want)
	}
	if p.Stamp.Time() != nil {
		t.Errorf("no time was printed: %+v", p.Stamp.Time())
	}
}

func texts(pieces []Piece) []string {
	var out []string
	for _, p := range pieces {
		out = append(out, strings.TrimPrefix(facts(p)+" "+p.Text, " "))
	}
	return out
}

func TestBars(t *testing.T) {
	tests := []struct {
		name, raw string
		want      []string
	}{
		{"redrawn, the prefix printed once",
			"(Worker_TP0 pid=9) Capturing:  50%|#  | 1/2 [00:01<00:01,  1.0it/s]\rCapturing: 100%|###| 2/2 [00:02<00:00,  1.0it/s]",
			[]string{"pid=9 process=Worker_TP0 Capturing:  50%|#  | 1/2 [00:01<00:01,  1.0it/s]", "pid=9 process=Worker_TP0 Capturing: 100%|###| 2/2 [00:02<00:00,  1.0it/s]"}},
		{"begins with a carriage return", "\rx", []string{"x"}},
		{"another process's line glued to it",
			"Capturing CUDA graph shapes:  76%|███▌ | 51/67 [00:19<00:05,  2.61it/s](VllmWorker rank=3 pid=7719) ERROR 07-19 02:44:22 [multiproc_executor.py:470] x",
			[]string{"Capturing CUDA graph shapes:  76%|███▌ | 51/67 [00:19<00:05,  2.61it/s]", "rank=3 pid=7719 process=VllmWorker level=E source=multiproc_executor.py:470 time=07-19 02:44:22 x"}},
		{"slow, and with a postfix",
			"10%|#  | 1/10 [00:09<01:21,  9.0s/it, loss=3.1][rank1]: x",
			[]string{"10%|#  | 1/10 [00:09<01:21,  9.0s/it, loss=3.1]", "rank=1 x"}},
		{"two redraws without a carriage return",
			"0%|  | 0/2 [00:00<?, ?it/s]50%|# | 1/2 [00:01<00:01,  1.0it/s]",
			[]string{"0%|  | 0/2 [00:00<?, ?it/s]", "50%|# | 1/2 [00:01<00:01,  1.0it/s]"}},
		{"a table is no bar", "| 30%|used | 1 |[rank1]: x", []string{"| 30%|used | 1 |[rank1]: x"}},
		{"only carriage returns", "\r\r\r", []string{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := texts(Decode([]byte(tt.raw), Layout{}))
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestLongLineIsCut(t *testing.T) {
	p := one(t, strings.Repeat("x", MaxText+100), Layout{})
	if len(p.Text) != MaxText {
		t.Errorf("%d bytes", len(p.Text))
	}
}

// mapped checks that every byte of the text stands in the raw line where its
// column says.
func mapped(t *testing.T, raw []byte, p Piece) {
	t.Helper()
	for i := range len(p.Text) {
		c := p.Column(i)
		if c < 0 || c >= len(raw) || raw[c] != p.Text[i] {
			t.Fatalf("%q: byte %d of %q maps to column %d", raw, i, p.Text, c)
		}
	}
}

func TestColumns(t *testing.T) {
	for _, raw := range []string{
		"x",
		"[rank3]: x",
		"\x1b[36m(Worker_TP2 pid=143)\x1b[0m ERROR 11-30 01:02:03 [a.py:1] \x1b[31mtorch\x1b[0m.OutOfMemoryError: é\x00!",
		"Capturing:  50%|███  | 1/2 [00:01<00:01,  1.0it/s](Worker pid=3) a\x1b[0mb\rCapturing: 100%|█████| 2/2 [00:02<00:00,  1.0it/s]\r",
		"2026-05-05T22:09:25.01Z stderr F [default1]:[rank9]: x",
	} {
		for _, p := range Decode([]byte(raw), Layout{}) {
			mapped(t, []byte(raw), p)
		}
	}
}

func TestColumnBehindTheEnd(t *testing.T) {
	raw := "[rank3]: abc\x1b[0m"
	p := one(t, raw, Layout{})
	if got := p.Column(len(p.Text)); got < len("[rank3]: abc") || got > len(raw) {
		t.Errorf("column %d", got)
	}
}

func TestColumnsInDockerJSON(t *testing.T) {
	raw := `{"log":"[rank1]: say \"no\" é\n","stream":"stderr"}`
	p := one(t, raw, Layout{})
	if want := `say "no" é`; p.Text != want {
		t.Fatalf("%q", p.Text)
	}
	if at := p.Column(strings.Index(p.Text, `no`)); at != strings.Index(raw, `no`) {
		t.Errorf("column %d", at)
	}
	if at := p.Column(strings.Index(p.Text, `é`)); at != strings.Index(raw, `é`) {
		t.Errorf("column %d", at)
	}
}
