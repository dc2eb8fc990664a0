package pysource

import "fmt"

// Reason is why no edit is offered. It is stable: callers may compare it.
type Reason string

// The reasons of a [Refusal].
const (
	ReasonUnreadable       Reason = "unreadable-source"
	ReasonNoSite           Reason = "no-capture-site"
	ReasonSeveralSites     Reason = "several-capture-sites"
	ReasonPoolGiven        Reason = "pool-given"
	ReasonPoolNone         Reason = "pool-none"
	ReasonArgumentsUnsure  Reason = "arguments-unpacked"
	ReasonNotInLoop        Reason = "not-in-loop"
	ReasonLoopInCaller     Reason = "loop-in-caller"
	ReasonOneLine          Reason = "one-line-loop"
	ReasonNoRoom           Reason = "no-line-before-loop"
	ReasonClassBody        Reason = "class-body"
	ReasonHandlePerTurn    Reason = "handle-per-iteration"
	ReasonDeviceLoop       Reason = "device-loop"
	ReasonStreamPerTurn    Reason = "stream-per-iteration"
	ReasonSameGraph        Reason = "same-graph"
	ReasonGraphDropped     Reason = "graph-dropped"
	ReasonCallablePerTurn  Reason = "callable-per-iteration"
	ReasonReplayConcurrent Reason = "replayed-concurrently"
	ReasonUnknownGraph     Reason = "unknown-graph"
	ReasonNoTorch          Reason = "torch-cuda-not-in-scope"
)

var reasonTexts = map[Reason]string{
	ReasonUnreadable:       "the source cannot be read",
	ReasonNoSite:           "no CUDA graph is captured at that line",
	ReasonSeveralSites:     "several captures could be meant",
	ReasonPoolGiven:        "the capture already passes pool=",
	ReasonPoolNone:         "the capture passes pool=None, which shares nothing: replace None by hand",
	ReasonArgumentsUnsure:  "the arguments are unpacked, so pool= may be among them",
	ReasonNotInLoop:        "the capture is not in a loop of its function",
	ReasonLoopInCaller:     "the loop is in a caller of the function that captures: the handle must be made there and passed in",
	ReasonOneLine:          "the body of the loop stands on the line of its header",
	ReasonNoRoom:           "no line can be put right before the loop",
	ReasonClassBody:        "the capture stands in a class body, where a comprehension does not see the handle",
	ReasonHandlePerTurn:    "the handle is made anew in every turn, so nothing is shared: make it before the loop",
	ReasonDeviceLoop:       "the loop goes over devices, and each device needs a pool of its own",
	ReasonStreamPerTurn:    "every capture has a stream of its own, and blocks are not reused across streams: use one stream first",
	ReasonSameGraph:        "every turn captures into the same graph, which holds one capture at a time: there is nothing to share",
	ReasonGraphDropped:     "the graph is dropped in every turn, so its pool is not idle but gone, and its handle must not be used again",
	ReasonCallablePerTurn:  "each turn graphs another callable: if one step runs several of them, a shared pool overwrites saved activations; pass them as one tuple",
	ReasonReplayConcurrent: "graphs of this file may be replayed at the same time, on several streams or threads: a shared pool would give wrong numbers",
	ReasonUnknownGraph:     "the file makes no torch.cuda.CUDAGraph, so what is captured here is not known",
	ReasonNoTorch:          "torch.cuda has no name before the loop",
}

// Refusal is the error of [SharePool]: the source does not have the plain shape
// that can be edited safely.
type Refusal struct {
	Reason Reason
	// Line is the line that decided, from 1, or 0 if no single one did.
	Line int
	// Detail adds to the reason, if there is something to add.
	Detail string
}

// Error says the reason in words.
func (r Refusal) Error() string {
	text := reasonTexts[r.Reason]
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	if r.Line > 0 {
		text = fmt.Sprintf("line %d: %s", r.Line, text)
	}
	return text
}
