package cause

import (
	"fmt"
	"strconv"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// missing returns the fact that the failure's file asks for in this situation,
// or what any failure needs.
func (q *Inquiry) missing(f *signatures.Failure, e *message.Event) *incident.MissingFact {
	if f != nil {
		for i := range f.Missing {
			m := &f.Missing[i]
			if q.holds(m.When, e).holds != incident.Yes {
				continue
			}
			vals := values(e)
			ask, okA := fill(m.Ask, vals)
			how, okH := fill(m.How, vals)
			if okA && okH {
				return &incident.MissingFact{ID: m.ID, Fact: ask, How: how}
			}
		}
	}
	if e == nil || q.roles[e] == incident.RoleCollateral {
		return &incident.MissingFact{
			ID:   "other-logs",
			Fact: "what the processes that are not in this log printed before " + lineText(e),
			How:  "kubectl logs POD --previous, or the files LOG_DIR/*/attempt_*/*/stderr.log of every host (torchrun --log-dir LOG_DIR --redirects 3)",
		}
	}
	if e.ID == message.PythonException {
		return &incident.MissingFact{
			ID:   "exception-cause",
			Fact: "why " + e.Traceback.Exception + " was raised: it is no message that graphtrap knows",
			How:  "read the frame above " + lineText(e) + " in your own source",
		}
	}
	if killed(e) {
		return &incident.MissingFact{
			ID:   "who-killed-it",
			Fact: "who or what killed " + whose(e) + ": the kernel where host memory ran out, a limit, a supervisor or a person",
			How:  "dmesg -T | grep -iE 'oom-kill|killed process' on its host; kubectl describe pod (last state), sacct -j JOBID --format=JobID,State,ExitCode,MaxRSS, bhist -l JOBID",
		}
	}
	return &incident.MissingFact{
		ID:   "full-message",
		Fact: "the whole message at " + lineText(e) + ", with the lines above it",
		How:  "the process's own log file, not a filtered or cut copy",
	}
}

// killed reports whether a process was ended by SIGKILL, of which it cannot tell
// itself.
func killed(e *message.Event) bool {
	code, signal := e.Facts["exit_code"], e.Facts["signal"]
	return e.ID == "shell-killed" || code.Int == -9 || code.Int == 137 || code.Text == "-9" || code.Text == "137" ||
		signal.Int == 9 || signal.Text == "SIGKILL" || signal.Text == "Killed"
}

func lineText(e *message.Event) string {
	if e == nil {
		return "the failure"
	}
	return place(e)
}

func firstOfTied(f *finding) *incident.MissingFact {
	var names []string
	for _, e := range append([]*message.Event{f.event}, f.tied...) {
		names = append(names, e.Origin.Name())
	}
	return &incident.MissingFact{
		ID:   "first-of-tied",
		Fact: "which of " + list(names) + " failed first: their lines carry no times that tell them apart",
		How:  "times below one second on every line (torchrun: TORCH_LOGS_FORMAT='%(asctime)s.%(msecs)03d %(message)s'; vLLM and SGLang: the workers' own files), or the kernel log of each host: dmesg -T | grep -i xid",
	}
}

func rankOf(f *finding) *incident.MissingFact {
	who := f.origin.Name()
	if who == "" {
		who = "the process that printed line " + fmt.Sprint(f.event.At.Number)
	}
	if timeline.RayActor(f.origin) {
		return &incident.MissingFact{
			ID:   "rank-map",
			Fact: "which rank, engine and GPU " + who + " is",
			How:  "RAY_DEDUP_LOGS=0 on the next run: Ray prints a line that several processes print only once, and what tells them apart is lost; while it runs, nvidia-smi and 'ray list actors --detail' show the pid with its card and its placement group",
		}
	}
	return &incident.MissingFact{
		ID:   "rank-map",
		Fact: "which global rank " + who + " is",
		How:  "a line of that process with its rank: NCCL_DEBUG=INFO prints one for each at start ('comm ... rank R nranks N'), torchrun's failure table another",
	}
}

func silentLog(ranks ...int) *incident.MissingFact {
	file, they := strconv.Itoa(ranks[0]), "it"
	if len(ranks) > 1 {
		file, they = "RANK", "they"
	}
	return &incident.MissingFact{
		ID:   "silent-rank-log",
		Fact: fmt.Sprintf("what %s printed, and where %s stood, before the others timed out", rankList(ranks), they),
		How:  fmt.Sprintf("LOG_DIR/*/attempt_*/%s/stderr.log of its host, kubectl logs of its pod with --previous; on the next hang: py-spy dump --pid PID on its host", file),
	}
}

// callSites asks where ranks that took different paths were called from.
func callSites(e *message.Event) *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "call-of-the-collective",
		Fact: fmt.Sprintf("which line of the program calls the collective at %s, and why the other ranks do not come there", place(e)),
		How:  "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 on the next run, then torchfrtrace on the dumps: it prints each rank's stack at that number; or print the number of batches of each rank",
	}
}

// peersLog asks for the log of a host that all victims name.
func peersLog(p *peer) *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "peers-log",
		Fact: fmt.Sprintf("what the processes at %s printed: victims name them as gone (%s), and no line of theirs is in this log", p.host, place(p.at)),
		How:  "that host's own log: kubectl logs POD --previous, or its files LOG_DIR/*/attempt_*/*/stderr.log (torchrun --log-dir LOG_DIR --redirects 3); its first exception",
	}
}

// pathBetween asks what the network did.
func pathBetween(e *message.Event) *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "network-between-hosts",
		Fact: fmt.Sprintf("what the network between the two hosts did at %s: both saw the other end stop answering", place(e)),
		How:  "the switch's port counters and its log for that minute; on both hosts: dmesg -T | grep -i mlx5, and perfquery or ethtool -S DEVICE for discards, symbol errors and link downs",
	}
}

// poolBytes prints the bytes of each pool; a pool has many segments.
const poolBytes = `S = torch.cuda.memory_snapshot(); print({p: sum(s["total_size"] for s in S if tuple(s["segment_pool_id"]) == p) for p in {tuple(s["segment_pool_id"]) for s in S}})`

// poolsAtCheck asks what held the memory that a check complained of.
func poolsAtCheck(e *message.Event) *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "per-pool-bytes",
		Fact: "the bytes of each allocator pool when the check at " + place(e) + " failed: pools of graphs, or live tensors",
		How:  poolBytes + ` in front of the check, and the same with "allocated_size" for what is live: (0, 0) is no graph's pool`,
	}
}

// busyWith asks what ranks did that had no collective pending.
func busyWith() *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "stacks-of-all-ranks",
		Fact: "what the ranks did outside of collectives: each had completed the work that it enqueued",
		How:  "py-spy dump --pid PID on each rank while it hangs, or TORCH_NCCL_ENABLE_MONITORING=1 with TORCH_NCCL_TRACE_BUFFER_SIZE=2000 for stacks at the timeout",
	}
}

// ownLog asks for the lines of a rank whose exit is all that is known.
func ownLog(rank int) *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "own-log",
		Fact: fmt.Sprintf("what rank %d printed before it ended: its traceback is not in this log", rank),
		How:  fmt.Sprintf("LOG_DIR/*/attempt_*/%d/stderr.log of its host (torchrun --log-dir LOG_DIR --redirects 3, or --tee 3); @record on the main function puts the traceback into the table", rank),
	}
}

func linesAbove() *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "lines-above",
		Fact: "the first exception of the process that failed, printed above these lines",
		How:  "the whole log: look for the first 'Traceback' with a worker's prefix, such as (Worker_TP0 ...), (EngineCore ...) or [rank0]:",
	}
}
