package timeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/signatures"
)

// builtin are the signatures, loaded once.
var builtin = sync.OnceValue(func() *signatures.Set {
	set, err := signatures.Builtin()
	if err != nil {
		panic(err)
	}
	return set
})

// build reads logs, one file each, and gives the run.
func build(t testing.TB, logs ...string) *Run {
	t.Helper()
	set := builtin()
	scanner := scan.New(message.Anchors(set))
	var events []*message.Event
	var printers []scan.Seen
	labelled := false
	for i, log := range logs {
		data, size := strings.NewReader(log), int64(len(log))
		scanned, err := scanner.Scan(context.Background(), data, size)
		if err != nil {
			t.Fatal(err)
		}
		src := message.Source{Index: i, Path: fmt.Sprintf("%d.log", i), Data: data, Size: size, Layout: scanned.Layout}
		found, err := message.Read(context.Background(), src, scanned.Hits, set)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, found.Events...)
		printers = append(printers, scanned.Printers...)
		labelled = labelled || scanned.Layout.TaskLabel
	}
	return Build(events, printers, labelled)
}

// owner tells whose event the last one on a line of the first file is: "rank 3
// (failure table)".
func owner(r *Run, number int64) string {
	for _, e := range slices.Backward(r.Events) {
		if e.At.Number != number || e.At.File != 0 {
			continue
		}
		name := e.Origin.Name()
		if e.Origin.Rank != nil {
			name += " (" + e.Origin.RankFrom + ")"
		}
		return name
	}
	return "no event"
}

const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.11 GiB"

func TestOwners(t *testing.T) {
	tests := []struct {
		name, log string
		// want tells whose the event on each line is.
		want map[int64]string
	}{
		{"torch's prefix", "[rank3]: " + oom + "\n[rank0]: x", map[int64]string{1: "rank 3 (outer prefix)"}},

		{"torchrun's table has the pid on another line", `x
E1220 03:44:33.100000 1201 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 1288) of binary: /usr/bin/python3
Root Cause (first observed failure):
[0]:
  time      : 2026-12-20_03:44:31
  host      : node7.cluster
  rank      : 9 (local_rank: 1)
  exitcode  : 1 (pid: 1288)
  error_file: <N/A>`,
			map[int64]string{2: "rank 9 (failure table)", 8: "rank 9 (failure table)"}},

		{"two entries of torchrun's table", `Failures:
[1]:
  rank      : 2 (local_rank: 2)
  exitcode  : -15 (pid: 1289)
Root Cause (first observed failure):
[0]:
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 1288)`,
			map[int64]string{4: "rank 2 (failure table)", 8: "rank 1 (failure table)"}},

		{"the agent's order of its workers", `W1220 03:44:31.184000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 1287 closing signal SIGTERM
W1220 03:44:31.185000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 1289 closing signal SIGTERM
W1220 03:44:31.186000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 1290 closing signal SIGTERM
E1220 03:44:33.100000 1201 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 1288) of binary: /usr/bin/python3
  rank      : 5 (local_rank: 1)
  exitcode  : 1 (pid: 1288)`,
			map[int64]string{
				1: "rank 4 (order of the agent's workers)", 2: "rank 6 (order of the agent's workers)",
				3: "rank 7 (order of the agent's workers)", 4: "rank 5 (failure table)",
			}},

		{"the agent's order is not believed where a local rank contradicts it", `W1220 03:44:31.184000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 1289 closing signal SIGTERM
E1220 03:44:33.100000 1201 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 3 (pid: 1288) of binary: /usr/bin/python3
  rank      : 3 (local_rank: 3)
  exitcode  : 1 (pid: 1288)`,
			map[int64]string{1: "pid 1289", 2: "rank 3 (failure table)"}},

		{"local to global rank, by lines that have both", "[default3]:[rank11]: x\n[default3]:" + oom + "\n[default1]:" + oom,
			map[int64]string{2: "rank 11 (local rank of the same host)", 3: "rank 9 (local rank of the same host)"}},

		{"a local rank alone is no global rank", "[default3]:" + oom + "\n[default1]:step 1", map[int64]string{1: "local rank 3"}},

		{"one local rank on two hosts", "[default3]:[rank3]: x\n[default3]:[rank11]: x\n[default3]:" + oom, map[int64]string{3: "local rank 3"}},

		{"vLLM with tensor parallelism", "(Worker_TP0 pid=140) INFO 11-30 01:02:03 [a.py:1] x\n(Worker_TP2 pid=143) ERROR 11-30 01:02:03 [a.py:1] " + oom,
			map[int64]string{2: "rank 2 (worker's label)"}},

		{"vLLM with pipeline stages and a known TP size", `INFO 11-30 01:01:00 [core.py:1] Initializing a V1 LLM engine (v0.11.0) with config: model='/models/m', tensor_parallel_size=4, pipeline_parallel_size=2, enforce_eager=False
(Worker_PP0_TP3 pid=143) INFO 11-30 01:02:03 [a.py:1] x
(Worker_PP1_TP2 pid=147) ERROR 11-30 01:02:03 [a.py:1] ` + oom,
			map[int64]string{3: "rank 6 (worker's label)"}},

		{"vLLM with pipeline stages of unknown size", "(Worker_PP0_TP3 pid=143) INFO 11-30 01:02:03 [a.py:1] x\n(Worker_PP1_TP2 pid=147) ERROR 11-30 01:02:03 [a.py:1] " + oom,
			map[int64]string{2: "Worker_PP1_TP2 pid 147"}},

		{"vLLM 0.8's label is the rank", "(VllmWorker rank=3 pid=7719) ERROR 11-30 01:02:03 [a.py:1] " + oom + "\n(VllmWorker rank=0 pid=7716) INFO 11-30 01:02:03 [a.py:1] x",
			map[int64]string{1: "rank 3 (worker's label)"}},

		{"vLLM V0's only helper is rank 1, and NCCL's other process the driver", `INFO 01-17 22:03:12 llm_engine.py:234] Initializing an LLM engine (v0.6.6.post1) with config: model='/models/m', tensor_parallel_size=2, pipeline_parallel_size=1, enforce_eager=False
(VllmWorkerProcess pid=40412) ERROR 11-30 01:02:03 a.py:1] ` + oom + `
gn17:40300:40300 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found`,
			map[int64]string{2: "rank 1 (worker's label)", 3: "rank 0 (the engine's process without a worker's label)"}},

		{"vLLM V0 with helpers that do not print", `INFO 01-17 22:03:12 llm_engine.py:234] Initializing an LLM engine (v0.6.6.post1) with config: model='/models/m', tensor_parallel_size=2, pipeline_parallel_size=2, enforce_eager=False
(VllmWorkerProcess pid=40412) ERROR 11-30 01:02:03 a.py:1] ` + oom,
			map[int64]string{2: "VllmWorkerProcess pid 40412"}},

		{"two engines of vLLM V0", `INFO 01-17 22:03:12 llm_engine.py:234] Initializing an LLM engine (v0.6.6.post1) with config: model='/models/m', tensor_parallel_size=2, pipeline_parallel_size=1
INFO 01-17 22:05:12 llm_engine.py:234] Initializing an LLM engine (v0.6.6.post1) with config: model='/models/n', tensor_parallel_size=4, pipeline_parallel_size=1
(VllmWorkerProcess pid=40412) ERROR 11-30 01:02:03 a.py:1] ` + oom,
			map[int64]string{3: "VllmWorkerProcess pid 40412"}},

		{"an actor's rank stands in front of other lines", "(RayTrainWorker pid=4410, ip=10.2.0.9) " + oom + "\n(RayTrainWorker pid=4410, ip=10.2.0.9) [rank2]:[E225 17:58:31.660214901 ProcessGroupNCCL.cpp:2068] x\n(RayTrainWorker pid=4410, ip=10.2.0.8) " + oom,
			map[int64]string{1: "rank 2 (prefix of other lines of the process)", 3: "RayTrainWorker pid 4410 on 10.2.0.8"}},

		{"a controller names the rank whose traceback it repeats", "(TrainController pid=18702) [Rank 2]\n(TrainController pid=18702) " + oom + "\n(RayTrainWorker pid=4410, ip=10.2.0.9) x",
			map[int64]string{2: "TrainController pid 18702"}},

		{"Ray Train's list of workers", "(TrainController pid=18702) - (ip=10.2.0.9, pid=4410) world_rank=2, local_rank=0, node_rank=1\n(RayTrainWorker pid=4410, ip=10.2.0.9) " + oom,
			map[int64]string{2: "rank 2 (launcher's summary)"}},

		{"each engine is a world of its own", `(LLMRayActor pid=61231) INFO 01-14 08:21:17 [parallel_state.py:1065] rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0
(LLMRayActor pid=61233) INFO 01-14 08:21:17 [parallel_state.py:1065] rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0
(LLMRayActor pid=61233) ` + oom + `
(LLMRayActor pid=61231) INFO 01-14 08:22:17 [a.py:1] x`,
			map[int64]string{3: "LLMRayActor pid 61233"}},

		{"NeMo-RL's trainer and its engines have a rank 0 each", "(MegatronPolicyWorker[rank=0] pid=31) x\n(VllmGenerationWorker pid=52) [rank0]: " + oom + "\n(MegatronPolicyWorker[rank=0] pid=31) " + oom,
			map[int64]string{2: "VllmGenerationWorker pid 52", 3: "MegatronPolicyWorker pid 31"}},

		{"NeMo-RL's trainer alone", "(MegatronPolicyWorker[rank=8] pid=31, ip=10.0.0.9) " + oom + "\n(MegatronPolicyWorker[rank=0] pid=31) x",
			map[int64]string{1: "rank 8 (worker's label)"}},

		{"vLLM V0 helpers show a pid only", "(VllmWorkerProcess pid=9143) ERROR 11-30 01:02:03 worker_base.py:1] " + oom + "\n(VllmWorkerProcess pid=9144) INFO 11-30 01:02:03 a.py:1] x",
			map[int64]string{1: "VllmWorkerProcess pid 9143"}},

		{"data-parallel engines number their own workers", "(Worker_DP0_TP0 pid=1) INFO 11-30 01:02:03 [a.py:1] x\n(Worker_DP1_TP0 pid=2) ERROR 11-30 01:02:03 [a.py:1] " + oom,
			map[int64]string{2: "Worker_DP1_TP0 pid 2"}},

		{"SGLang with tensor parallelism over two nodes", "[2026-10-30 07:03:54 TP0] x\n[2026-10-30 07:03:54 TP12] " + oom,
			map[int64]string{2: "rank 12 (worker's label)"}},

		{"SGLang with pipeline stages", "[2026-10-30 07:01:00] server_args=ServerArgs(model_path='/m', tp_size=4, pp_size=2)\n[2026-10-30 07:03:54 PP0 TP1] x\n[2026-10-30 07:03:54 PP1 TP1] " + oom,
			map[int64]string{3: "rank 5 (worker's label)"}},

		{"NCCL's init line", `gpu-a0:4011:4120 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId e1000 commId 0x9a - Init COMPLETE
gpu-a0:4011:4910 [0] enqueue.cc:1024 NCCL WARN Cuda failure 'out of memory'`,
			map[int64]string{2: "rank 3 (NCCL's init line)"}},

		{"the same pid on two hosts", `gpu-a0:4011:4120 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId e1000 commId 0x9a - Init COMPLETE
gpu-a1:4011:4120 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 11 nranks 16 cudaDev 3 nvmlDev 3 busId e1000 commId 0x9a - Init COMPLETE
gpu-a1:4011:4910 [0] enqueue.cc:1024 NCCL WARN Cuda failure 'out of memory'
gpu-a0:4011:4910 [0] enqueue.cc:1024 NCCL WARN Cuda failure 'out of memory'
(Worker pid=4011) ` + oom,
			map[int64]string{3: "rank 11 (NCCL's init line)", 4: "rank 3 (NCCL's init line)", 5: "Worker pid 4011"}},

		{"a rank in a smaller communicator is not the global one", `gpu-a0:4011:4120 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId e1000 commId 0x9a - Init COMPLETE
gpu-a0:4011:4120 [0] NCCL INFO ncclCommInitRank comm 0x55d1 rank 1 nranks 2 cudaDev 3 nvmlDev 3 busId e1000 commId 0x9b - Init COMPLETE
gpu-a0:4012:4121 [0] NCCL INFO ncclCommInitRank comm 0x66d1 rank 0 nranks 2 cudaDev 4 nvmlDev 4 busId e2000 commId 0x9c - Init COMPLETE
gpu-a0:4012:4121 [0] NCCL INFO ncclCommInitRank comm 0x66d0 rank 4 nranks 8 cudaDev 4 nvmlDev 4 busId e2000 commId 0x9a - Init COMPLETE
gpu-a0:4011:4910 [0] enqueue.cc:1024 NCCL WARN Cuda failure 'out of memory'
gpu-a0:4012:4911 [0] enqueue.cc:1024 NCCL WARN Cuda failure 'out of memory'`,
			map[int64]string{5: "rank 3 (NCCL's init line)", 6: "rank 4 (NCCL's init line)"}},

		{"a card's PCI address in NCCL's init line", `gpu-a0:4011:4120 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId e1000 commId 0x9a - Init COMPLETE
gpu-a0:4012:4121 [1] NCCL INFO ncclCommInitRank comm 0x55d1 rank 4 nranks 8 cudaDev 4 nvmlDev 4 busId c1000 commId 0x9a - Init COMPLETE
[ 8123.450000] NVRM: Xid (PCI:0000:c1:00): 79, pid=99, name=python3, GPU has fallen off the bus.`,
			map[int64]string{3: "rank 4 (PCI address in NCCL's init line)"}},

		{"the same PCI address on two hosts names no rank", `gpu-a0:4011:4120 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId e1000 commId 0x9a - Init COMPLETE
gpu-a1:4011:4120 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 11 nranks 16 cudaDev 3 nvmlDev 3 busId e1000 commId 0x9a - Init COMPLETE
[ 8123.450000] NVRM: Xid (PCI:0000:e1:00): 79, pid=99, name=python3, GPU has fallen off the bus.
Nov 28 04:13:22 gpu-a1 kernel: NVRM: Xid (PCI:0000:e1:00): 79, pid=99, name=python3, GPU has fallen off the bus.`,
			map[int64]string{3: "pid 99", 4: "rank 11 (PCI address in NCCL's init line)"}},

		{"two ranks in one process are told apart by their cards", `lab:51210:51240 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 nranks 2 cudaDev 0 nvmlDev 2 busId 4e000 commId 0x1f - Init COMPLETE
lab:51210:51241 [1] NCCL INFO ncclCommInitRank comm 0x56 rank 1 nranks 2 cudaDev 1 nvmlDev 3 busId 5d000 commId 0x1f - Init COMPLETE
lab:51210:51241 [1] enqueue.cc:1024 NCCL WARN Cuda failure 'out of memory'`,
			map[int64]string{3: "rank 1 (NCCL's init line for its device)"}},

		{"DeepSpeed's map of hosts", `node1: [2026-11-25 04:12:01,123] [INFO] [launch.py:164:main] global_rank_mapping=defaultdict(<class 'list'>, {'node1': [0, 1], 'node2': [2, 3]})
node2: [2026-11-25 04:12:01,123] [INFO] [launch.py:253:main] process 77 spawned with command: ['/usr/bin/python3', '-u', 'train.py', '--local_rank=1']
node1: step 1
node2: step 1
node1: step 2
node2: step 2`,
			map[int64]string{2: "rank 3 (local rank that it was started as)"}},

		{"the only worker that failed, and the only rank that says so", `[rank6]: ` + oom + `
W1123 08:14:46.113000 12 .../api.py:900] Sending process 41 closing signal SIGTERM
W1123 08:14:46.113000 12 .../api.py:900] Sending process 43 closing signal SIGTERM
E1123 08:14:47.113000 12 .../api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 42) of binary: /usr/bin/python3`,
			map[int64]string{
				2: "rank 5 (order of the agent's workers)", 3: "rank 7 (order of the agent's workers)",
				4: "rank 6 (the only worker that failed by itself)",
			}},

		{"Ray leaves the address out of its labels on the head node", "(WorkerDict pid=4242) step 1\n(WorkerDict pid=4243) step 1\nray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.update() (pid=4242, ip=10.0.0.4, actor_id=a)\n" + oom,
			map[int64]string{3: "WorkerDict pid 4242"}},

		{"one rank in two worlds of Ray", "(ActorModelRayActor pid=11, ip=10.0.0.4) [rank0]: " + oom + "\n(RayWorkerWrapper pid=22, ip=10.0.0.4) [rank0]: x",
			map[int64]string{1: "ActorModelRayActor pid 11 on 10.0.0.4"}},

		{"srun's task list with task labels", `0: step 1
1: step 1
2: step 1
3: step 1
srun: error: cn-24: task 2: Out Of Memory
srun: error: cn-24: tasks 0-1,3: Terminated`,
			map[int64]string{5: "rank 2 (scheduler's task)"}},

		{"srun's tasks are nodes where torch's prefix says so", "0: [rank3]: x\n1: [rank11]: x\n1: " + oom + "\nsrun: error: cn-25: task 1: Exited with exit code 1\n",
			map[int64]string{3: "a process on task 1", 4: "a process on cn-25"}},

		{"a worker of mp.spawn is not the only process", "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n" + oom,
			map[int64]string{4: ""}},

		{"a notebook's launcher tells how many it starts", "Launching training on 2 GPUs.\ntorch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n" + oom,
			map[int64]string{4: "rank 1 (local rank of the same host)"}},

		{"an agent that was told the ranks of its host stops all of its workers", "pt-worker-5 trainer   global_ranks=[40, 41]\npt-worker-7 trainer   global_ranks=[56, 57]\n" +
			"pt-worker-5 trainer W0930 03:41:17.300000 1 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 71 closing signal SIGTERM\n" +
			"pt-worker-5 trainer W0930 03:41:17.301000 1 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 72 closing signal SIGTERM\n" +
			"pt-worker-7 trainer W0930 03:41:18.300000 1 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 71 closing signal SIGTERM\n" +
			"pt-worker-7 trainer W0930 03:41:18.301000 1 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 72 closing signal SIGTERM\n",
			map[int64]string{3: "rank 40 (order of the agent's workers)", 6: "rank 57 (order of the agent's workers)"}},

		{"after a restart it has others", "pt-worker-7 trainer x\npt-worker-5 trainer   global_ranks=[40, 41]\npt-worker-5 trainer   global_ranks=[0, 1]\n" +
			"pt-worker-5 trainer W0930 03:41:17.300000 1 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 71 closing signal SIGTERM\n" +
			"pt-worker-5 trainer W0930 03:41:17.301000 1 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 72 closing signal SIGTERM\n",
			map[int64]string{4: "pid 71"}},

		{"an engine's numbers of its workers are their ranks", "(Worker_TP0 pid=40) x\n(Worker_TP1 pid=41) x\n(EngineCore_DP0 pid=30) ERROR 11-25 01:25:01 [multiproc_executor.py:154] Worker proc VllmWorker-1 died unexpectedly, shutting down executor.\n",
			map[int64]string{3: "rank 1 (local rank of the same host)"}},

		{"with two engines they are not", "(Worker_DP0_TP0 pid=40) x\n(Worker_DP1_TP0 pid=41) x\n(EngineCore_DP1 pid=30) ERROR 11-25 01:25:01 [multiproc_executor.py:154] Worker proc VllmWorker-0 died unexpectedly, shutting down executor.\n",
			map[int64]string{3: "local rank 0"}},

		{"a rank beyond 0 was not alone", "[Rank 8] (after 1 iterations) memory (MB) | allocated: 41205.87 | max allocated: 55873.02 | reserved: 57344.0 | max reserved: 57344.0\n" + oom,
			map[int64]string{2: ""}},

		{"the only process is rank 0", "step 1\n" + oom, map[int64]string{2: "rank 0 (the only process)"}},

		{"the engine of one GPU is rank 0, its front end is not", "(EngineCore_DP0 pid=311) ERROR 11-30 01:02:03 [core.py:1] " + oom + "\n(APIServer pid=300) ERROR 11-30 01:02:04 [a.py:1] " + oom,
			map[int64]string{1: "rank 0 (the only process)", 2: "APIServer pid 300"}},

		{"TensorRT-LLM names the rank beside the error", "[TRT-LLM] [E] Failed to initialize executor on rank 6: CUDA error: uncorrectable NVLink error detected during the execution\n[rank1]: x",
			map[int64]string{1: "rank 6 (launcher's summary)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := build(t, tt.log)
			for number, want := range tt.want {
				if got := owner(r, number); got != want {
					t.Errorf("line %d is of %q, want %q", number, got, want)
				}
			}
		})
	}
}

func TestTasks(t *testing.T) {
	r := build(t, "0: step 1\n1: step 1\n2: step 1\n3: step 1\nsrun: error: cn-24: tasks 0-1,3: Terminated\n")
	var got []int
	for _, tasks := range r.Tasks {
		got = append(got, tasks...)
	}
	if !slices.Equal(got, []int{0, 1, 3}) || !slices.Equal(r.Ranks, []int{0, 1, 2, 3}) {
		t.Errorf("tasks %v, ranks %v", got, r.Ranks)
	}
	if r := build(t, "step 1\nsrun: error: cn-24: tasks 0-1,3: Terminated\n"); len(r.Tasks) != 0 {
		t.Error("without task labels a task may be a node with many ranks")
	}
}

func TestParseTasks(t *testing.T) {
	for list, want := range map[string]string{
		"3": "[3]", "0-2": "[0 1 2]", "0,2-3,7": "[0 2 3 7]", "x": "[]", "3-": "[]", "-3": "[]", "5-3": "[]", "": "[]", "1,,2": "[]",
	} {
		if got := fmt.Sprint(parseTasks(list)); got != want {
			t.Errorf("parseTasks(%q) = %s, want %s", list, got, want)
		}
	}
	if n := len(parseTasks("0-4000000000,0-9")); n != maxTasks {
		t.Errorf("%d tasks", n)
	}
}

func FuzzParseTasks(f *testing.F) {
	for _, s := range []string{"0-2,7", "0-9999999999", "-", ",", "3-1", "9223372036854775806-9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		if n := len(parseTasks(list)); n > maxTasks {
			t.Fatalf("%d tasks", n)
		}
	})
}

func TestWorldSize(t *testing.T) {
	tests := []struct {
		name, log string
		want      int
	}{
		{"not told", "[rank0]: " + oom, 0},
		{"the largest communicator", "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1b000 - Init COMPLETE\na:1:2 [0] NCCL INFO comm 0x2 rank 0 nranks 8 cudaDev 0 busId 1b000 - Init COMPLETE", 8},
		{"a rank beyond it: it is a smaller group's", "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1b000 - Init COMPLETE\n[rank5]: x", 0},
		{"torchrun", "  global_world_sizes=[8, 8, 8, 8]", 8},
		{"DeepSpeed", "[2026-09-22 10:11:04,120] [INFO] [launch.py:165:main] dist_world_size=16", 16},
	}
	for _, tt := range tests {
		r := build(t, tt.log)
		if r.World != tt.want || (r.World > 0) != (r.WorldFrom != nil) {
			t.Errorf("%s: %d from %v, want %d", tt.name, r.World, r.WorldFrom, tt.want)
		}
	}
}

func TestSeveralProcesses(t *testing.T) {
	tests := []struct {
		name, log string
		want      bool
	}{
		{"one process without a prefix", oom, false},
		{"one rank", "[rank0]: " + oom, false},
		{"two ranks", "[rank0]: x\n[rank1]: x", true},
		{"an engine and its front end", "(EngineCore_DP0 pid=1) x\n(APIServer pid=2) x", false},
		{"two workers", "(Worker_TP0 pid=1) x\n(Worker_TP1 pid=2) x", true},
		{"a world of one", "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 1 cudaDev 0 busId 1b000 - Init COMPLETE\n", false},
		{"a peer is told of", "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.40.1.25]:23102", true},
		{"the launcher names ranks", "  rank      : 0 (local_rank: 0)\n  rank      : 3 (local_rank: 3)", true},
	}
	for _, tt := range tests {
		if got := build(t, tt.log).Several; got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// Two launchers on one host: what is learnt of one must not depend on which is
// looked at first.
func TestAgentsAreOrdered(t *testing.T) {
	var b strings.Builder
	for _, agent := range []int{900, 901, 902, 903} {
		for i := range 3 {
			fmt.Fprintf(&b, "W1220 03:44:31.184000 %d torch/distributed/elastic/multiprocessing/api.py:900] Sending process %d closing signal SIGTERM\n", agent, 1000+10*(agent-900)+i)
		}
	}
	b.WriteString("  rank      : 3 (local_rank: 3)\n  exitcode  : 1 (pid: 1003)\n")
	first := ""
	for range 50 {
		r := build(t, b.String())
		var got []string
		for _, e := range r.Events {
			got = append(got, e.Origin.Name())
		}
		if s := strings.Join(got, ", "); first == "" {
			first = s
		} else if s != first {
			t.Fatalf("now %s\nthen %s", s, first)
		}
	}
}

// event is an event of a rank at a place and a time.
func event(rank int, file, line_ int, stamp string) *message.Event {
	raw := stamp + "x"
	piece := line.Decode([]byte(raw), line.Layout{})[0]
	e := &message.Event{At: line.Placed{Piece: piece, File: file, Number: int64(line_), Start: int64(100 * line_)}}
	e.Origin = incident.Origin{Rank: &rank}
	e.Time = piece.Stamp.Time()
	return e
}

// on gives an event to a host.
func on(host string, e *message.Event) *message.Event {
	e.Origin.Host = host
	return e
}

func TestCompare(t *testing.T) {
	const (
		c10d1   = "[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] "
		c10d2   = "[E1125 01:25:02.900000000 ProcessGroupNCCL.cpp:683] "
		c10d3   = "[E1125 01:25:03.000000000 ProcessGroupNCCL.cpp:683] "
		iso1    = "2026-11-25 01:25:02,100 INFO "
		iso2    = "2026-11-25 01:25:02,101 INFO "
		iso3    = "2026-11-25 01:25:02,900 INFO "
		second  = "[2026-11-25 01:25:02 TP1] "
		later   = "[2026-11-25 01:25:03 TP1] "
		uptime1 = "[12345.678901] NVRM: Xid (PCI:0000:af:00): 79, "
		uptime2 = "[99999.678901] NVRM: Xid (PCI:0000:af:00): 79, "
	)
	tests := []struct {
		name string
		a, b *message.Event
		want Order
	}{
		{"one process: its own order, whatever the times say", event(1, 0, 5, later), event(1, 0, 9, second), Earlier},
		{"milliseconds", event(1, 0, 9, iso1), event(2, 0, 5, iso2), Earlier},
		{"c10d's digits behind the second are of another clock", event(1, 0, 5, c10d1), event(2, 0, 9, c10d2), Tied},
		{"whole seconds of c10d", event(1, 0, 9, c10d1), event(2, 0, 5, c10d3), Earlier},
		{"the same second is a tie", event(1, 0, 5, second), event(2, 0, 9, second), Tied},
		{"within the coarser clock's second", event(1, 0, 5, iso3), event(2, 0, 9, later), Tied},
		{"beyond the coarser clock's second", event(1, 0, 5, iso1), event(2, 0, 9, "[2026-11-25 01:25:04 TP1] "), Earlier},
		{"with and without a year: times do not compare", event(1, 0, 5, c10d1), event(2, 0, 9, later), Tied},
		{"with and without a year, of two files", event(1, 0, 5, c10d1), event(2, 1, 9, later), Unordered},
		{"no times, one file", event(1, 0, 5, ""), event(2, 0, 9000, ""), Tied},
		{"no times, two files", event(1, 0, 5, ""), event(2, 1, 9, ""), Unordered},
		{"times of two files", event(1, 1, 5, iso1), event(2, 0, 9, iso2), Earlier},
		{"seconds since the boot are no time of day", event(1, 0, 5, uptime1), event(2, 0, 9, uptime2), Tied},
		{"one time only", event(1, 0, 5, iso1), event(2, 0, 9, ""), Tied},
		{"clocks of two hosts within a second", on("n1", event(1, 0, 5, iso1)), on("n2", event(2, 0, 9, iso3)), Tied},
		{"clocks of two hosts, seconds apart", on("n1", event(1, 0, 5, iso1)), on("n2", event(2, 0, 9, "2026-11-25 01:25:04,100 INFO ")), Earlier},
		{"one clock of one host", on("n1", event(1, 0, 5, iso1)), on("n1", event(2, 0, 9, iso3)), Earlier},
	}
	reverse := map[Order]Order{Earlier: Later, Later: Earlier, Tied: Tied, Unordered: Unordered}
	for _, tt := range tests {
		if got := Compare(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if got := Compare(tt.b, tt.a); got != reverse[tt.want] {
			t.Errorf("%s, the other way: %v, want %v", tt.name, got, reverse[tt.want])
		}
	}
}

func TestSame(t *testing.T) {
	n := func(i int) *int { return &i }
	tests := []struct {
		name string
		a, b incident.Origin
		want bool
	}{
		{"ranks decide", incident.Origin{Rank: n(1), PID: n(7)}, incident.Origin{Rank: n(1), PID: n(8)}, true},
		{"two ranks", incident.Origin{Rank: n(1)}, incident.Origin{Rank: n(2)}, false},
		{"a rank and none", incident.Origin{Rank: n(1), PID: n(7)}, incident.Origin{PID: n(7)}, false},
		{"pids", incident.Origin{PID: n(7), Process: "W"}, incident.Origin{PID: n(7), Process: "W"}, true},
		{"one pid on two hosts", incident.Origin{PID: n(7), Host: "a"}, incident.Origin{PID: n(7), Host: "b"}, false},
		{"local ranks", incident.Origin{LocalRank: n(3)}, incident.Origin{LocalRank: n(4)}, false},
		{"names", incident.Origin{Process: "PP0 TP1"}, incident.Origin{Process: "PP1 TP1"}, false},
		{"nothing known of either", incident.Origin{}, incident.Origin{}, true},
	}
	for _, tt := range tests {
		if got := Same(tt.a, tt.b); got != tt.want || got != Same(tt.b, tt.a) {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A run is several processes where an actor that failed has namesakes, though each
// states a world of one; not where it was restarted, or others help it.
func TestNamesakes(t *testing.T) {
	world := " INFO 01-14 08:21:17 [parallel_state.py:1065] rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0\n"
	for _, test := range []struct {
		name, log string
		want      bool
	}{
		{"engines side by side", "(SGLangEngine pid=1)" + world + "(SGLangEngine pid=2) x\n(SGLangEngine pid=1) " + oom + "\n", true},
		{"any name", "(PolicyModelActor pid=1)" + world + "(PolicyModelActor pid=2) x\n(PolicyModelActor pid=1) " + oom + "\n", true},
		{"on two hosts", "(SGLangEngine pid=1)" + world + "(SGLangEngine pid=1, ip=10.0.0.9) x\n(SGLangEngine pid=1) " + oom + "\n", true},
		{"one after the other", "(SGLangEngine pid=1)" + world + "(SGLangEngine pid=1) " + oom + "\n(SGLangEngine pid=2)" + world + "(SGLangEngine pid=2) " + oom + "\n", false},
		{"helpers of another name", "(train_fn pid=1)" + world + "(MapWorker pid=2) x\n(MapWorker pid=3) x\n(MapWorker pid=2) x\n(train_fn pid=1) " + oom + "\n", false},
		{"a server that was restarted", "(EngineCore_DP0 pid=1)" + world + "(EngineCore_DP0 pid=2) x\n(EngineCore_DP0 pid=1) " + oom + "\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := build(t, test.log).Several; got != test.want {
				t.Errorf("several processes: %v", got)
			}
		})
	}
}
