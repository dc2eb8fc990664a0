// Package traceback re-joins Python tracebacks that several processes printed
// into one log at the same time. It takes the pieces of a log in the order of
// the file and keeps one open traceback for each process, so that frames go to
// the process that printed them through any interleaving.
package traceback

import (
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Link is how an exception followed from the one printed above it.
type Link string

// The links between chained exceptions, by Python's words for them.
const (
	First  Link = ""
	Direct Link = "direct cause"    // "... was the direct cause of the following exception:"
	During Link = "during handling" // "During handling of the above exception, ..."
)

// Traceback is one traceback of one process.
type Traceback struct {
	Origin incident.Origin
	// First and Last are its first and last lines; Stated is the line of the
	// exception, the zero value if the log ends before it.
	First, Last, Stated line.Placed
	Frames              []incident.Frame
	// Exception is the exception's name as printed: "torch.OutOfMemoryError".
	Exception string
	// Above is the traceback that this one is chained to.
	Above *Traceback
	Link  Link
	// Headless is true if the log starts within it.
	Headless bool
	// Relayed is true where a parent printed it: Origin is then not its lines'.
	Relayed bool
}

// Root returns the first traceback of the chain that t ends.
func (t *Traceback) Root() *Traceback {
	for t.Above != nil {
		t = t.Above
	}
	return t
}

// Outer reports whether an origin is all that is left of the header's where only
// the header carries the inner prefix:
//
//	(SGLangEngine pid=231044) [2026-06-20 18:05:23 TP3] Scheduler hit an exception: Traceback (most recent call last):
//	(SGLangEngine pid=231044)   File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 3310, in run_scheduler_process
//
//	sglang-1  | [2025-09-24 02:15:13 DP2 TP2] Scheduler hit an exception: Traceback (most recent call last):
//	sglang-1  |   File "/sgl-workspace/sglang/python/sglang/srt/model_executor/cuda_graph_runner.py", line 385, in __init__
func (t *Traceback) Outer(o incident.Origin) bool {
	h := t.First.Origin
	samePID := o.PID == nil && h.PID == nil || o.PID != nil && h.PID != nil && *o.PID == *h.PID
	more := h.Rank != nil || h.LocalRank != nil || h.Process != o.Process
	return o.Known() && samePID && o.Host == h.Host && o.Rank == nil && o.LocalRank == nil && more
}

// Complete reports whether the exception's line was seen.
func (t *Traceback) Complete() bool { return t.Exception != "" }

// MaxFrames bounds the frames kept of one traceback: endless recursion prints more.
const MaxFrames = 400
