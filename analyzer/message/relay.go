package message

import (
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
)

// relayed is a process whose traceback a parent prints, behind a line that names it
// (about = "next" in the message's file).
//
//	-- Process 1 terminated with the following error:
//	Traceback (most recent call last):
//	...
//	ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.update() (pid=4242, ip=10.0.0.4, actor_id=abc)
//	  File "/app/worker.py", line 88, in update
//	torch.OutOfMemoryError: CUDA out of memory. ...
type relayed struct {
	origin incident.Origin
	// tb is the traceback that the lines belong to: the one that the naming
	// line states, or the one that begins behind it.
	tb *traceback.Traceback
	at int64 // the naming line
}

// relayReach is how many lines behind the naming line its traceback may begin.
const relayReach = 3

// relayedPiece gives a piece of a relayed traceback to the process that raised
// it, and reports whether it did.
func (r *reader) relayedPiece(p *line.Placed, part traceback.Part, tb *traceback.Traceback) bool {
	t := r.relayed
	if t == nil || tb == nil {
		return false
	}
	begins := part == traceback.Head || tb.Headless && tb.First.Number == p.Number
	if begins && p.Number <= t.at+relayReach {
		t.tb, tb.Origin, tb.Relayed = tb, t.origin, true
	}
	if tb != t.tb {
		return false
	}
	p.Origin = t.origin
	return true
}

// relay notes the process that the event names, and gives the event to it.
func (r *reader) relay(e *Event, tb *traceback.Traceback) {
	var o incident.Origin
	for name, field := range map[string]**int{"rank": &o.Rank, "local_rank": &o.LocalRank, "pid": &o.PID} {
		if f, ok := e.Facts[name]; ok && f.Kind == incident.KindInt {
			n := int(f.Int)
			*field = &n
		}
	}
	if host, ok := e.Facts["host"]; ok {
		o.Host = host.Text
	}
	if !o.Known() {
		return
	}
	if o.Rank != nil {
		o.RankFrom = "parent's line"
	}
	e.At.Origin, e.Origin, e.Relayed = o, o, true
	r.relayed = &relayed{origin: o, tb: tb, at: e.At.Number}
}
