package cause_test

import (
	"fmt"
	"strings"
	"testing"
)

// waitedIn is a timeout in a collective of a kind and a size.
func waitedIn(n, seq int, op string, numel int) string {
	return fmt.Sprintf("[rank%[1]d]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] [Rank %[1]d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%[2]d, OpType=%[3]s, NumelIn=%[4]d, NumelOut=%[4]d, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n", n, seq, op, numel)
}

// lost is a rank's line about a peer that went away, without saying which.
func lost(n int) string {
	return fmt.Sprintf("[rank%[1]d]:[E1118 03:45:21.900220621 ProcessGroupNCCL.cpp:554] [Rank %[1]d] Collective WorkNCCL(SeqNum=412, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, NCCL version 2.26.5\n", n)
}

// gloo is a rank's line about a peer at an address.
func gloo(n int, host string) string {
	return fmt.Sprintf("[rank%d]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer [%s]:33113\n", n, host)
}

// ib is a process's line about a transfer to an address.
func ib(host string, pid int, peer string) string {
	return fmt.Sprintf("%[1]s:%[2]d:%[3]d [0] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer %[4]s<44206> with status=12 opcode=0 len=0 vendor err 129 (Send)\n", host, pid, pid+100, peer)
}

// comm is NCCL's line with a rank's process and card.
func comm(rank, pid int, bus string) string {
	return fmt.Sprintf("node-0:%[2]d:%[3]d [%[1]d] NCCL INFO ncclCommInitRankConfig comm 0x55d0 rank %[1]d nranks 4 cudaDev %[1]d nvmlDev %[1]d busId %[4]s commId 0xfeed - Init COMPLETE\n", rank, pid, pid+300, bus)
}

// worker is a line of a vLLM worker that its engine ended.
func worker(rank, pid int) string {
	return fmt.Sprintf("(Worker_TP%d pid=%d) INFO 11-25 01:25:01 [multiproc_executor.py:558] Parent process exited, terminating worker\n", rank, pid)
}

// foundDead is what a vLLM engine says of the first worker that it finds dead.
func foundDead(rank int) string {
	return fmt.Sprintf("(EngineCore_DP0 pid=30) ERROR 11-25 01:25:01 [multiproc_executor.py:154] Worker proc VllmWorker-%d died unexpectedly, shutting down executor.\n", rank)
}

const (
	xid79  = "[Wed Nov 25 01:25:00 2026] NVRM: Xid (PCI:0000:3d:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
	killed = "[Wed Nov 25 01:25:00 2026] Out of memory: Killed process %d (python3) total-vm:131000000kB, anon-rss:62000000kB, file-rss:0kB, shmem-rss:0kB\n"
)

// Each rule of rules.go, on the run that it is for and on the one that would
// mislead it.
func TestRules(t *testing.T) {
	fault := "Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in f\n    loss.item()\nRuntimeError: CUDA error: an illegal memory access was encountered\n"
	run(t, []test{
		// ruleUnlabelled
		{"a traceback without a rank is that of the only rank whose watchdog prints the same failure",
			"[rank0]: step 1\n" + fault + "[rank1]:[E1208 10:02:19.551200310 ProcessGroupNCCL.cpp:2057] [PG ID 0 PG GUID 0(default_pg) Rank 1] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered\n",
			"diagnosed cuda-error-async; rank 1 at line 5; graphs no, confirmed; asks faulting-kernel"},
		{"not where that rank prints a traceback of its own: then the bare one is another's",
			"[rank0]: step 1\n" + value + rank(1, value),
			"undetermined; nobody at line 5 and rank 1 at line 9; graphs no, possible; asks first-of-tied"},

		// ruleOutside, and the kernel's reports
		{"the driver's report at one moment with an exception elsewhere",
			comm(0, 10, "19000") + comm(1, 11, "3d000") + rank(0, value) + xid79,
			"diagnosed xid; rank 1 at line 7; graphs no, confirmed; 1 fell: ranks 0"},
		{"a report of the program's own fault gives way",
			comm(0, 10, "19000") + comm(1, 11, "3d000") + rank(0, outside) + strings.Replace(xid79, ": 79,", ": 43,", 1),
			"diagnosed cuda-oom; rank 0 at line 6; graphs no, confirmed"},
		{"a report without a rank is about the card of the only rank with a device fault",
			"[rank0]: step 1\n" + rank(2, strings.Replace(fault, "an illegal memory access was", "uncorrectable ECC error", 1)) + xid79,
			"diagnosed xid; rank 2 at line 5; graphs no, confirmed"},
		{"a report of another day is no part of the run",
			comm(0, 10, "19000") + comm(1, 11, "3d000") + strings.Replace(xid79, "Wed Nov 25", "Fri Nov 20", 1) + timeout(0, "01:25:02") + rank(0, outside),
			"diagnosed cuda-oom; rank 0 at line 8; graphs no, confirmed"},
		{"the kernel killed a process of the job, and one of somebody else",
			comm(0, 10, "19000") + comm(1, 11, "3d000") + fmt.Sprintf(killed, 77) + fmt.Sprintf(killed, 11),
			"diagnosed host-oom; rank 1 at line 4; graphs no, confirmed"},
		{"the kernel killed a worker, which the engine found dead: its number is its rank",
			worker(0, 40) + "(Worker_TP1 pid=41) INFO 11-25 01:20:01 [gpu_worker.py:210] ready\n" + foundDead(1) + fmt.Sprintf(killed, 118321),
			"diagnosed host-oom; rank 1 at line 4; graphs no, confirmed; 1 fell: ranks 0"},
		{"the engine found the worker dead a day later",
			worker(0, 40) + "(Worker_TP1 pid=41) INFO 11-25 01:20:01 [gpu_worker.py:210] ready\n" + strings.Replace(foundDead(1), "11-25", "11-26", 1) + fmt.Sprintf(killed, 118321),
			"undetermined host-oom; pid 118321 at line 4; graphs no, likely; 1 fell: ranks 0; asks rank-map"},
		{"what LSF adds behind a traceback is no part of it",
			"Traceback (most recent call last):\n  File \"/opt/torch/distributed/elastic/multiprocessing/api.py\", line 84, in _terminate_process_handler\n    raise SignalException(f\"Process {os.getpid()} got signal: {sigval}\", sigval=sigval)\n" +
				"torch.distributed.elastic.multiprocessing.api.SignalException: Process 2290114 got signal: 15\n\nTERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n",
			"undetermined host-oom; nobody at line 6; graphs no, likely; asks rank-map"},

		// ruleAlike
		{"three of eight fail alike, the rest was ended: nobody is known to have only suffered",
			world(8) + rank(3, outside) + rank(5, outside) + rank(6, outside) + "W1125 01:25:03.184000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 1287 closing signal SIGTERM\n",
			"undetermined cuda-oom; nobody at line 5 and rank 5 at line 9 and rank 6 at line 13; graphs no, possible; asks first-of-tied"},
		{"two fail alike while another tells of a lost peer: that one suffered",
			rank(3, outside) + rank(5, outside) + lost(6),
			"undetermined cuda-oom; nobody at line 4 and rank 5 at line 8; graphs no, possible; 1 fell: ranks 6; asks first-of-tied"},

		// ruleSplit
		{"one rank waits in another collective at the same number",
			waitedIn(0, 15, "ALLREDUCE", 4311252) + waitedIn(1, 15, "BROADCAST", 1) + waitedIn(2, 15, "ALLREDUCE", 4311252),
			"undetermined nccl-timeout; rank 1 at line 2; graphs no, likely; 2 fell: ranks 0, 2; asks call-of-the-collective"},
		{"of two, the one that waits with a single element left the loop",
			waitedIn(0, 3437, "ALLREDUCE", 4311252) + waitedIn(1, 3437, "ALLREDUCE", 1),
			"undetermined nccl-timeout; rank 1 at line 2; graphs no, likely; 1 fell: ranks 0; asks call-of-the-collective"},
		{"two of two with tensors: either may be right",
			waitedIn(0, 15, "ALLREDUCE", 4311252) + waitedIn(1, 15, "_ALLGATHER_BASE", 8192),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},
		{"numbers of smaller groups do not compare",
			strings.Replace(waitedIn(4, 15, "ALLREDUCE", 4311252), "[Rank 4]", "[Rank 0]", 1) + strings.Replace(waitedIn(5, 15, "ALLREDUCE", 1), "[Rank 5]", "[Rank 1]", 1),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},
		{"transfers between two ranks count for themselves",
			waitedIn(0, 15, "SEND", 4311252) + waitedIn(1, 15, "RECV", 1) + waitedIn(2, 15, "SEND", 4311252),
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},

		// ruleLauncher
		{"a traceback without a rank is that of the only rank that did not wait",
			timeout(0, "01:25:02") + value + timeout(2, "01:25:02") + "[rank1]: step 1\n",
			"diagnosed; rank 1 at line 5; graphs no, likely; 2 fell: ranks 0, 2; asks exception-cause"},
		{"but not where two did not",
			timeout(0, "01:25:02") + value + timeout(3, "01:25:02") + "[rank1]: step 1\n[rank2]: step 1\n",
			"undetermined; nobody at line 5; graphs no, likely; 2 fell: ranks 0, 3; asks rank-map"},
		{"the task that srun saw fail before it ended the step",
			"SLURM_NTASKS=3\n| distributed init (rank 0): env://\n| distributed init (rank 1): env://\n| distributed init (rank 2): env://\n" + value +
				"srun: error: n1: task 1: Exited with exit code 1\nsrun: Terminating StepId=7.0\nsrun: error: n1: tasks 0,2: Exited with exit code 1\n",
			"diagnosed; rank 1 at line 8; graphs no, likely; 2 fell: ranks 0, 2; asks exception-cause"},
		{"mpirun's word, where nobody suffered",
			"[rank 0] step 1\n[rank 1] step 1\n" + value + "mpirun detected that one or more processes exited with non-zero status, thus causing\n  Process name: [[41207,1],1]\n",
			"diagnosed; rank 1 at line 6; graphs no, likely; asks exception-cause"},

		// ruleConsequences
		{"a shell's word on the server behind its victims",
			timeout(0, "01:25:02") + timeout(1, "01:25:02") + "Killed\n",
			"undetermined nccl-timeout; graphs undetermined, possible; asks rank-that-did-not-join"},

		// ruleReported
		{"a barrier names two ranks",
			"[rank0]: RuntimeError: [Rank 0]: Rank 2 failed to pass monitoredBarrier in 30000 ms\n[rank0]: RuntimeError: [Rank 0]: Ranks 2, 5 failed to pass monitoredBarrier in 30000 ms\n",
			"undetermined; nobody at line 2 and rank 2 by absence and rank 5 by absence; graphs undetermined, possible; 1 fell: ranks 0; asks silent-rank-log"},
		{"the desync report names one rank",
			timeout(0, "01:25:02") + "[rank0]:[E1125 01:25:02.1 ProcessGroupNCCL.cpp:2196]  - [3] finished collective #14, but didn't join collective #15 (count from 1)\n" + timeout(1, "01:25:02"),
			"undetermined nccl-timeout; rank 3 at line 2; graphs undetermined, possible; 2 fell: ranks 0, 1; asks silent-rank-log"},
		{"Horovod names the rank that it waits for",
			"[0]<stderr>:[2026-08-19 14:09:26.608424: W horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may indicate that different ranks are trying to submit different tensors or that only subset of ranks is submitting tensors, which will cause deadlock.\n[0]<stderr>:Missing ranks:\n[0]<stderr>:5: [allreduce.conv.weight]\n",
			"undetermined; rank 5 at line 3; graphs undetermined, possible; 1 fell: ranks 0; asks silent-rank-log"},

		// rulePeers
		{"all victims name one host that is not in the log", gloo(0, "10.0.0.5") + gloo(1, "10.0.0.5") + gloo(2, "10.0.0.5"),
			"undetermined; graphs undetermined, possible; 3 fell: ranks 0-2; asks peers-log"},
		// rulePath
		{"two hosts name each other",
			comm(0, 10, "19000") + strings.ReplaceAll(comm(1, 11, "3d000"), "node-0", "node-1") + ib("node-0", 10, "10.0.0.2") + ib("node-1", 11, "10.0.0.1"),
			"undetermined nccl-error; nobody at line 3 and rank 0 by absence and rank 1 by absence; graphs no, possible; asks network-between-hosts"},
		{"both name a third one",
			comm(0, 10, "19000") + strings.ReplaceAll(comm(1, 11, "3d000"), "node-0", "node-1") + ib("node-0", 10, "10.0.0.3") + ib("node-1", 11, "10.0.0.3"),
			"undetermined nccl-error; graphs undetermined, possible; 2 fell: ranks 0, 1; asks peers-log"},
		{"victims that name two hosts name nobody", gloo(0, "10.0.0.5") + gloo(1, "10.0.0.6") + gloo(2, "10.0.0.5"),
			"undetermined; graphs undetermined, possible; 3 fell: ranks 0-2; asks other-logs"},
		{"the host itself is no other host", gloo(0, "127.0.0.1") + gloo(1, "127.0.0.1"),
			"undetermined; graphs undetermined, possible; 2 fell: ranks 0, 1; asks other-logs"},

		// ruleNothingPending
		{"everything that was enqueued was completed", timeout(0, "01:25:02") + status(0, 0, 14, 14) + status(1, 0, 14, 14) + "[rank2]: x\n[rank3]: x\n",
			"undetermined nccl-timeout; graphs undetermined, possible; 2 fell: ranks 0, 1; asks stacks-of-all-ranks"},

		// ruleStopped
		{"a time limit ends a healthy run", "[rank0]: step 9\n[rank1]: step 9\nslurmstepd: error: *** STEP 4711.0 ON node7 CANCELLED AT 2026-11-25T04:12:40 DUE TO TIME LIMIT ***\n" + lost(0),
			"diagnosed; nobody at line 3; graphs no, likely; 1 fell: ranks 0; asks progress-before-the-end"},
		{"a time limit behind a failure only ends what had failed", rank(1, outside) + "[rank0]: step 9\nslurmstepd: error: *** STEP 4711.0 ON node7 CANCELLED AT 2026-11-25T04:12:40 DUE TO TIME LIMIT ***\n",
			"diagnosed cuda-oom; rank 1 at line 4; graphs no, confirmed"},
		{"a time limit behind a timeout: the job hung", timeout(0, "01:25:02") + timeout(1, "01:25:02") + "[rank2]: x\nslurmstepd: error: *** STEP 4711.0 ON node7 CANCELLED AT 2026-11-25T04:12:40 DUE TO TIME LIMIT ***\n",
			"undetermined nccl-timeout; rank 2 by absence; graphs undetermined, possible; 2 fell: ranks 0, 1; asks silent-rank-log"},

		// the fuller account
		{"a line that names the failure, and its traceback right behind it",
			"[rank1]: worker failed: RuntimeError: CUDA error: out of memory\n[rank0]: x\n" + rank(1, "Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in f\n    with torch.cuda.graph(g):\nRuntimeError: CUDA error: out of memory\n"),
			"diagnosed cuda-graph-capture-oom; rank 1 at line 6; graphs yes, confirmed"},
	})
}

// Where one restart fails at once and otherwise, the failure before it is told; a run
// that went on for long is told itself.
func TestAttempts(t *testing.T) {
	restart := "[default] Worker group FAILED. 2/3 attempts left; will restart worker group\n"
	agent := func(at string) string {
		return "W1125 " + at + ".184000 1201 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 1287 closing signal SIGTERM\n"
	}
	run(t, []test{
		{"it tripped over what the failure left", rank(1, outside) + agent("01:25:03") + restart + rank(0, value) + agent("01:26:03"),
			"diagnosed cuda-oom; rank 1 at line 4; graphs no, confirmed; 1 fell: ranks "},
		{"it ran for an hour", rank(1, outside) + agent("01:25:03") + restart + rank(0, value) + agent("02:26:03"),
			"diagnosed; rank 0 at line 10; graphs no, likely; 1 fell: ranks ; asks exception-cause"},
		{"it failed in the same way: the last one is told", rank(1, outside) + agent("01:25:03") + restart + rank(1, outside) + agent("01:26:03"),
			"diagnosed cuda-oom; rank 1 at line 10; graphs no, confirmed; 1 fell: ranks "},
	})
}

// A check of memory that fails says nothing of the cause; the figures before it do.
func TestChecksOfMemory(t *testing.T) {
	check := "Traceback (most recent call last):\n  File \"/app/mem.py\", line 41, in guard\n    raise AssertionError(\nAssertionError: reserved 22.00 GiB after teardown, limit 20.00 GiB\n"
	run(t, []test{
		{"memory rose at captures", captures(10, 14, 18, 22) + check, "diagnosed cuda-graph-pool-growth; rank 0 at line 8; graphs yes, likely"},
		{"no figure is printed", check, "undetermined; rank 0 at line 4; graphs undetermined, likely; asks per-pool-bytes"},
		{"an assertion about something else", strings.Replace(check, "reserved 22.00 GiB after teardown, limit 20.00 GiB", "bad shape", 1),
			"diagnosed; rank 0 at line 4; graphs no, likely; asks exception-cause"},
	})
}
