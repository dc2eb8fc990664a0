package cause

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
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
	return &incident.MissingFact{
		ID:   "full-message",
		Fact: "the whole message at " + lineText(e) + ", with the lines above it",
		How:  "the process's own log file, not a filtered or cut copy",
	}
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
	return &incident.MissingFact{
		ID:   "rank-map",
		Fact: "which global rank " + who + " is",
		How:  "a line of that process with its rank: NCCL_DEBUG=INFO prints one for each at start ('comm ... rank R nranks N'), torchrun's failure table another",
	}
}

func silentLog(rank int) *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "silent-rank-log",
		Fact: fmt.Sprintf("what rank %d printed, and where it stood, before the others timed out", rank),
		How:  fmt.Sprintf("LOG_DIR/*/attempt_*/%d/stderr.log of its host, kubectl logs of its pod with --previous; on the next hang: py-spy dump --pid PID on its host", rank),
	}
}

func linesAbove() *incident.MissingFact {
	return &incident.MissingFact{
		ID:   "lines-above",
		Fact: "the first exception of the process that failed, printed above these lines",
		How:  "the whole log: look for the first 'Traceback' with a worker's prefix, such as (Worker_TP0 ...), (EngineCore ...) or [rank0]:",
	}
}
