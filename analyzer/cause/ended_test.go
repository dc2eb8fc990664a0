package cause_test

import (
	"fmt"
	"strings"
	"testing"
)

// tagged prefixes the lines of a text.
func tagged(tag, text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(tag + l)
	}
	return b.String()
}

// Launchers and engines end the other processes when one fails: those fell with it, and
// what is said of the one that failed does not make it a victim.
func TestEndedByOthers(t *testing.T) {
	const (
		abort = "MPI_ABORT was invoked on rank %d in communicator MPI_COMM_WORLD\nwith errorcode 1.\n"
		hydra = "===\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 71330 RUNNING AT nid001417\n=   EXIT CODE: 1\n=   CLEANING UP REMAINING PROCESSES\n"
		intel = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK %d PID 71330 RUNNING AT nid001417\n=   EXIT STATUS: 1\n"
		ray   = "(LLMRayActor pid=%d) "
		world = "INFO 01-14 08:21:17 [parallel_state.py:1065] rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0\n"
		died  = `Traceback (most recent call last):
  File "/app/train_ppo_ray.py", line 176, in train
    ray.get(refs)
ray.exceptions.ActorDiedError: The actor died because of an error raised in its creation task, ray::LLMRayActor.__init__() (pid=61233, ip=10.9.4.17, actor_id=5d0be771)
`
		engine = "INFO 01-17 22:03:12 llm_engine.py:234] Initializing an LLM engine (v0.6.6.post1) with config: model='/models/m', tensor_parallel_size=%d, pipeline_parallel_size=1\n"
		closed = "INFO 01-17 22:03:33 multiproc_worker_utils.py:140] Terminating local vLLM worker processes\n"
		helper = "(VllmWorkerProcess pid=%d) INFO 01-17 22:03:33 multiproc_worker_utils.py:247] Worker exiting\n"
	)
	lost := timeout(0, "01:25:02")
	tests := []struct{ name, log, want string }{
		{"MPI_ABORT tells of the rank that failed", tagged("[1,mpirank:1,algo-1]<stderr>:", outside) + "[1,mpirank:0,algo-1]<stdout>:x\n" + fmt.Sprintf(abort, 1),
			"diagnosed cuda-oom; rank 1 at line 4; graphs no, confirmed; 1 fell: ranks 0"},
		{"a failure without a rank is that of the rank that aborted", "[rank0]: x\n[rank2]: x\n" + outside + fmt.Sprintf(abort, 2),
			"diagnosed cuda-oom; rank 2 at line 6; graphs no, confirmed"},
		{"a victim aborts as well: no rank", lost + "[rank1]: x\n[rank2]: x\n" + outside + fmt.Sprintf(abort, 2),
			"undetermined cuda-oom; nobody at line 7; graphs no, likely; 1 fell: ranks 0; asks rank-map"},
		{"two ranks aborted: no rank", "[rank0]: x\n[rank2]: x\n" + outside + fmt.Sprintf(abort, 2) + fmt.Sprintf(abort, 0),
			"undetermined cuda-oom; nobody at line 6; graphs no, likely; asks rank-map"},
		{"Hydra ends the others", "[1] x\n[0] x\n" + tagged("[0] ", rank(0, outside)) + hydra,
			"diagnosed cuda-oom; rank 0 at line 6; graphs no, confirmed; 1 fell: ranks 1"},
		{"Intel MPI tells of each rank", "[1] x\n[0] x\n" + tagged("[1] ", outside) + fmt.Sprintf(intel, 1) + fmt.Sprintf(intel, 0),
			"diagnosed cuda-oom; rank 1 at line 6; graphs no, confirmed; 1 fell: ranks 0"},
		{"PALS names who ended", "x1c0 0: x\nx1c1 4: x\n" + tagged("x1c1 4: ", outside) + "x1c1: rank 4 exited with code 1\nx1c0: rank 0 died from signal 15\n",
			"diagnosed cuda-oom; rank 4 at line 6; graphs no, confirmed; 1 fell: ranks 0"},

		{"one of many actors, and the driver that lost it", fmt.Sprintf(ray, 61231) + world + tagged(fmt.Sprintf(ray, 61233), inside) + fmt.Sprintf(ray, 61231) + "x\n" + died,
			"undetermined cuda-graph-capture-oom; LLMRayActor pid 61233 at line 7; graphs yes, likely; asks rank-map"},

		{"vLLM V0's driver failed, its only helper was ended", fmt.Sprintf(engine, 2) + fmt.Sprintf(helper, 40412) + rank(0, inside) + closed,
			"diagnosed cuda-graph-capture-oom; rank 0 at line 8; graphs yes, confirmed; 1 fell: ranks 1"},
		{"vLLM V0 with three helpers", fmt.Sprintf(engine, 4) + fmt.Sprintf(helper, 11) + fmt.Sprintf(helper, 12) + fmt.Sprintf(helper, 13) + rank(0, inside) + closed,
			"diagnosed cuda-graph-capture-oom; rank 0 at line 10; graphs yes, confirmed; 3 fell: ranks 1-3"},
		{"vLLM V0 that is done", fmt.Sprintf(engine, 2) + closed + fmt.Sprintf(helper, 40412),
			"no_failure_found; graphs undetermined, possible"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := verdict(diagnose(t, tt.log)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
