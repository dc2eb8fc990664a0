package timeline

import (
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// span is the stretch of the log in which an actor of Ray prints.
type span struct {
	name        string
	first, last int64
}

// actorSpans returns the actors of Ray by their pids. Ray starts many processes under
// one name; those that print at the same time are not restarts of one another.
//
//	(LLMRayActor pid=61231) INFO 01-14 08:21:04 [__init__.py:244] Automatically detected platform cuda.
func actorSpans(printers []scan.Seen) map[process]span {
	spans := map[process]span{}
	for _, p := range printers {
		if p.Origin.PID == nil || !rayActor(p.Origin.Process) {
			continue
		}
		at := process{p.Origin.Host, *p.Origin.PID}
		s, seen := spans[at]
		if !seen {
			s = span{p.Origin.Process, p.First, p.Last}
		}
		s.first, s.last = min(s.first, p.First), max(s.last, p.Last)
		spans[at] = s
	}
	return spans
}

func (s span) meets(o span) bool { return s.first <= o.last && o.first <= s.last }

// rayActor reports whether a process name is one that Ray prints, and not one of the
// labels by which vLLM names its own processes.
func rayActor(name string) bool {
	if ownName(name) {
		return false
	}
	for _, own := range []string{"EngineCore", "APIServer", "ApiServer", "Worker", "VllmWorker", "raylet"} {
		if strings.HasPrefix(name, own) && name != "WorkerDict" {
			return false
		}
	}
	_, parallel := labelDims(name)
	return !parallel
}

// RayActor reports whether an origin is a process that Ray labelled with its actor's
// name and pid.
func RayActor(o incident.Origin) bool {
	return o.PID != nil && o.Process != "" && rayActor(o.Process)
}

// oneOfNamesakes reports whether a process that failed is one of several actors of a
// name, whatever size the worlds that they print have: each engine of an RL run is a
// world of its own.
//
//	(LLMRayActor pid=61235) INFO ... rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0
//	(LLMRayActor pid=61233) torch.OutOfMemoryError: CUDA out of memory. ...
func oneOfNamesakes(events []*message.Event, spans map[process]span) bool {
	for _, e := range events {
		if e.Role != incident.RoleInitiator || e.Named() || e.At.Origin.PID == nil {
			continue
		}
		at := process{e.At.Origin.Host, *e.At.Origin.PID}
		failed, ok := spans[at]
		for p, s := range spans {
			if ok && p != at && s.name == failed.name && s.meets(failed) {
				return true
			}
		}
	}
	return false
}

// claimedTwice adds the ranks that two actors state of themselves, which print at the
// same time: they are of different worlds.
func claimedTwice(shared map[int]bool, events []*message.Event, spans map[process]span) {
	claims := map[int][]process{}
	for _, e := range events {
		rank := number(e, "rank")
		if e.Message == nil || e.Message.About != "map" || rank == nil || number(e, "world_size") == nil || e.At.Origin.PID == nil {
			continue
		}
		at := process{e.At.Origin.Host, *e.At.Origin.PID}
		own, ok := spans[at]
		if !ok {
			continue
		}
		for _, p := range claims[*rank] {
			shared[*rank] = shared[*rank] || p != at && spans[p].meets(own)
		}
		claims[*rank] = append(claims[*rank], at)
	}
}
