package cause

import (
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
)

// proof is an answer with the line that gives it.
type proof struct {
	holds incident.Answer
	at    *incident.Location
	// says is a detail of the line, for the end of a sentence: "capture in graphs.py".
	says string
}

func proven(answer incident.Answer, at incident.Location, says string) proof {
	return proof{answer, &at, says}
}

// captureFrames are functions that run inside a capture, or only to prepare one
// (their warm-up runs belong to it). A path is matched by its end.
var captureFrames = []struct{ path, function string }{
	{"torch/cuda/graphs.py", "__enter__"},
	{"torch/cuda/graphs.py", "__exit__"},
	{"torch/cuda/graphs.py", "capture_begin"},
	{"torch/cuda/graphs.py", "capture_end"},
	{"torch/cuda/graphs.py", "instantiate"}, // of a graph that is kept until then
	{"torch/cuda/graphs.py", "make_graphed_callables"},
	{"torch/_inductor/cudagraph_trees.py", "_record"},
	{"", "make_graphed_callables"},
	{"", "_make_graphed_callables"},
	{"", "capture_model"},
	{"", "_capture_cudagraphs"},
	{"", "_warmup_and_capture"},
	{"", "capture_one_batch_size"},
	{"cuda_graph_runner.py", "capture"},   // SGLang, TensorRT-LLM
	{"cuda/graph_runner.py", "capture"},   // LMDeploy, which captures a size when it first comes up
	{"worker/model_runner.py", "capture"}, // vLLM V0
	{"", "init_cuda_graphs"},
	{"", "create_cudagraphs"},
	{"", "create_fwd_graph"},
	{"", "create_bwd_graph"},
}

// eitherFrames run their callers' work inside captures and outside of them: they
// leave the question open.
var eitherFrames = []struct{ path, function string }{
	{"core/full_cuda_graph.py", "__call__"},
	{"torch/_inductor/cudagraph_trees.py", "record_function"},
}

// replayFrames are functions that only replay a graph.
var replayFrames = []struct{ path, function string }{
	{"torch/cuda/graphs.py", "replay"},
	{"", "replay"},
	{"", "replay_graph"},
}

// inCapture says whether an event happened inside a capture: by the frames of
// its chain of tracebacks, by a wrapper that only captures, or by a capture of
// its process that had begun and not ended. A complete traceback without any of
// them says no; no traceback says nothing.
func (q *Inquiry) inCapture(e *message.Event) proof {
	for _, tb := range q.chain(e) {
		for i := len(tb.Frames) - 1; i >= 0; i-- {
			f := tb.Frames[i]
			if strings.Contains(f.Text, "torch.cuda.graph(") || frameIn(f, captureFrames) {
				at := tb.First.Location()
				if tb.Complete() {
					at = tb.Stated.Location()
				}
				return proven(incident.Yes, at, f.Function+" in "+short(f.Path))
			}
		}
	}
	if at := q.ggmlGraph(e); at != nil {
		return proven(incident.Yes, at.At.Location(), at.Facts["function"].Text)
	}
	for _, other := range q.Run.Events {
		if other.Traceback != nil && e.Traceback != nil && other.Traceback.Root() == e.Traceback.Root() &&
			strings.Contains(strings.ToLower(other.At.Text), "capture cuda graph failed") {
			return proven(incident.Yes, other.At.Location(), "its own wrapper says so")
		}
	}
	complete := e.Traceback != nil && e.Traceback.Complete() && !e.Traceback.Root().Headless
	either := slices.ContainsFunc(q.chain(e), func(tb *traceback.Traceback) bool {
		return slices.ContainsFunc(tb.Frames, func(f incident.Frame) bool { return frameIn(f, eitherFrames) })
	})
	switch p := q.openCapture(e); {
	case p.holds == incident.Yes && (!complete || either):
		return p
	case p.holds == incident.Yes || either:
		// The frames show no capture and the progress lines one that had not
		// ended: a capture's own error can look so, and an unrelated one too.
		return proof{holds: incident.Unknown}
	case complete:
		return proven(incident.No, e.Traceback.First.Location(), "")
	}
	// A bare message that names no private pool, in a run that never captured.
	if pools, ok := e.Facts["private_pools"]; ok && pools.Size.High == 0 && q.capturesSeen(nil).holds != incident.Yes {
		return proven(incident.No, e.At.Location(), "")
	}
	return proof{holds: incident.Unknown}
}

// ggmlGraph returns the line behind an error of ggml that names the function which
// failed, if that captures and instantiates graphs.
//
//	CUDA error: out of memory
//	  current device: 0, in function ggml_cuda_graph_evaluate_and_capture at ggml-cuda.cu:4017
func (q *Inquiry) ggmlGraph(e *message.Event) *message.Event {
	for _, other := range q.Run.Events {
		if other.ID == "ggml-cuda-place" && other.At.File == e.At.File && other.At.Number == e.At.Number+1 &&
			strings.HasPrefix(other.Facts["function"].Text, "ggml_cuda_graph") {
			return other
		}
	}
	return nil
}

// openCapture says whether the process had begun to capture and not ended, by
// its progress lines ("capture" in a message's facts: begin, progress, end).
func (q *Inquiry) openCapture(e *message.Event) proof {
	var open *message.Event
	for _, other := range q.Run.Events {
		if !other.At.Before(e.At) {
			break
		}
		if other.Origin.Known() && e.Origin.Known() && !timeline.Same(other.Origin, e.Origin) {
			continue
		}
		switch captureMark(other) {
		case captureBegins:
			open = other
		case captureEnds:
			open = nil
		}
	}
	if open == nil {
		return proof{holds: incident.Unknown}
	}
	return proven(incident.Yes, open.At.Location(), "the one that begins here had not ended")
}

type mark int

const (
	noMark mark = iota
	captureBegins
	captureEnds
)

// captureMark reads progress of captures from a message's facts: done of total.
func captureMark(e *message.Event) mark {
	if e.Message == nil || e.Message.Capture == "" {
		return noMark
	}
	switch e.Message.Capture {
	case "end":
		return captureEnds
	case "off":
		return noMark
	}
	done, total := e.Facts["progress_done"], e.Facts["progress_total"]
	if e.Message.Capture == "progress" && total.Int > 0 && done.Int >= total.Int {
		return captureEnds
	}
	return captureBegins
}

// capturesSeen says whether the run captured graphs at all before the event.
func (q *Inquiry) capturesSeen(e *message.Event) proof {
	for _, other := range q.Run.Events {
		if captureMark(other) != noMark && (e == nil || other.At.Before(e.At)) {
			return proven(incident.Yes, other.At.Location(), "")
		}
	}
	for _, t := range q.Tracks {
		for _, r := range t.Readings {
			if r.Captured {
				return proven(incident.Yes, r.At, "")
			}
		}
	}
	return proof{holds: incident.Unknown}
}

// graphsOff says whether the log shows that graphs are not used.
func (q *Inquiry) graphsOff() proof {
	for _, e := range q.Run.Events {
		if e.Message != nil && e.Message.Capture == "off" {
			return proven(incident.Yes, e.At.Location(), "")
		}
	}
	return proof{holds: incident.No}
}

// capturesDiffer says whether ranks registered different numbers of captured
// buffers: then they did not capture the same, or one broke off.
//
//	Registering 5635 cuda graph addresses
func (q *Inquiry) capturesDiffer() proof {
	var first *message.Event
	for _, e := range q.Run.Events {
		n, ok := e.Facts["addresses"]
		if !ok {
			continue
		}
		if first == nil {
			first = e
		} else if n.Int != first.Facts["addresses"].Int {
			return proven(incident.Yes, e.At.Location(), "")
		}
	}
	return proof{holds: incident.No}
}

// inReplay says whether an event was raised by the replay of a graph.
func (q *Inquiry) inReplay(e *message.Event) proof {
	for _, tb := range q.chain(e) {
		for i := len(tb.Frames) - 1; i >= 0; i-- {
			if f := tb.Frames[i]; frameIn(f, replayFrames) || strings.Contains(f.Text, ".replay()") {
				return proven(incident.Yes, tb.Stated.Location(), f.Function+" in "+short(f.Path))
			}
		}
	}
	if e.Traceback != nil && e.Traceback.Complete() {
		return proven(incident.No, e.Traceback.First.Location(), "")
	}
	return proof{holds: incident.Unknown}
}

// chain returns the tracebacks that belong to the event's: those above it and
// those raised while it was handled.
func (q *Inquiry) chain(e *message.Event) []*traceback.Traceback {
	if e == nil || e.Traceback == nil {
		return nil
	}
	root := e.Traceback.Root()
	seen := map[*traceback.Traceback]bool{}
	var out []*traceback.Traceback
	add := func(tb *traceback.Traceback) {
		if !seen[tb] {
			seen[tb] = true
			out = append(out, tb)
		}
	}
	add(e.Traceback)
	for _, other := range q.Run.Events {
		if other.Traceback != nil && other.Traceback.Root() == root {
			add(other.Traceback)
		}
	}
	for tb := e.Traceback.Above; tb != nil; tb = tb.Above {
		add(tb)
	}
	return out
}

func frameIn(f incident.Frame, list []struct{ path, function string }) bool {
	name := f.Function[strings.LastIndexByte(f.Function, '.')+1:]
	for _, want := range list {
		if name == want.function && strings.HasSuffix(f.Path, want.path) {
			return true
		}
	}
	return false
}

// short keeps the last two parts of a path.
func short(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return path
	}
	if j := strings.LastIndexByte(path[:i], '/'); j >= 0 {
		return path[j+1:]
	}
	return path
}
