// Package timeline says who each event belongs to and in which order events
// happened: it joins the ranks, local ranks, pids and labels that a log shows in
// different places, and compares printed times only where they compare.
package timeline

import (
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// Run is the incident with every event given to its process.
type Run struct {
	// Events are those of the episode that is looked at, All those of the log.
	Events, All []*message.Event
	// World is the number of ranks, 0 if no line tells; WorldFrom is the line.
	World     int
	WorldFrom *incident.Location
	// Ranks are the global ranks that the log shows, ascending.
	Ranks []int
	// Several is true if the log shows more than one process of the job.
	Several bool
	// Host are the ranks of the one host whose launcher speaks in the log, where
	// the log tells them.
	Host []int
	// Tasks are the ranks that events name in lists.
	Tasks map[*message.Event][]int
	maps  *maps
	// Printers are who printed how much, with ranks where they are known.
	Printers []scan.Seen
}

// Build completes the origins of the events, in place, and gives the run.
// labelled tells that lines carry the scheduler's task numbers.
func Build(events []*message.Event, printers []scan.Seen, labelled bool) *Run {
	r := &Run{Events: events, All: events, Printers: slices.Clone(printers)}
	m := newMaps(events, printers, labelled)
	r.World, r.WorldFrom = worldSize(events)
	if pids, from := helpers(events, printers); pids != nil && r.World <= len(pids)+1 {
		r.World = len(pids) + 1
		if r.WorldFrom == nil {
			r.WorldFrom = from
		}
		m.learnDriver(pids, printers)
	}
	m.world = r.World
	r.Several = several(events, printers, r.World, m)
	if oneOfNamesakes(events, actorSpans(printers)) {
		r.Several = true
		if r.World == 1 {
			r.World, r.WorldFrom, m.world = 0, nil, 0
		}
	}
	m.alone = !r.Several && !perhapsSeveral(events, r.World)
	r.maps = m
	for i := range r.Printers {
		r.Printers[i].Origin = m.resolve(r.Printers[i].Origin)
	}
	for i, e := range events {
		e.Origin = m.owner(e)
		if named := m.namedBeside(events, i); named != nil {
			e.Origin = *named
		}
	}
	r.Host = m.host()
	named := slices.Clone(r.Host)
	r.Tasks = map[*message.Event][]int{}
	for _, e := range events {
		if tasks := m.tasks(e); tasks != nil {
			r.Tasks[e] = tasks
			named = append(named, tasks...)
		}
	}
	r.Ranks = ranks(r.Printers, events, named)
	if n := len(r.Ranks); n > 0 && r.World > 0 && r.Ranks[n-1] >= r.World {
		r.World, r.WorldFrom = 0, nil // a smaller group's size, not the job's
	}
	return r
}

// maxWorld bounds the ranks of a job that are listed one by one.
const maxWorld = 1 << 16

// Everyone returns the ranks of the job where its size is known, else nil.
func (r *Run) Everyone() []int {
	var out []int
	for rank := range min(r.World, maxWorld) {
		out = append(out, rank)
	}
	return out
}

// Resolve completes an origin by what the log says of who is who.
func (r *Run) Resolve(o incident.Origin) incident.Origin { return r.maps.complete(o) }

func ranks(printers []scan.Seen, events []*message.Event, host []int) []int {
	out := slices.Clone(host)
	for _, p := range printers {
		if p.Origin.Rank != nil {
			out = append(out, *p.Origin.Rank)
		}
	}
	for _, e := range events {
		if e.Origin.Rank != nil {
			out = append(out, *e.Origin.Rank)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// worldSize takes the largest that any line states: groups within a job are smaller.
// A server that prints the sizes of its tensor and pipeline groups has their product.
func worldSize(events []*message.Event) (int, *incident.Location) {
	size := 0
	var from *incident.Location
	larger := func(n int, e *message.Event) {
		if n > size && n < 1<<20 {
			at := e.At.Location()
			size, from = n, &at
		}
	}
	for _, e := range events {
		for _, name := range []string{"world_size", "nranks"} {
			if n := number(e, name); n != nil {
				larger(*n, e)
			}
		}
		if tp, pp := number(e, "tp_size"), number(e, "pp_size"); tp != nil && pp != nil {
			larger(*tp**pp, e)
		}
	}
	return size, from
}

// several reports whether the log shows more than one process of the job, or one
// whose number says that there are others before it. A launcher or an API server
// beside one worker does not count.
func several(events []*message.Event, printers []scan.Seen, world int, m *maps) bool {
	if world > 1 {
		return true
	}
	if world == 1 {
		return false
	}
	seen := map[string]bool{}
	// Ranks count from 0: where there is a rank 3 there are three others.
	rank := func(n int) { seen["rank "+itoa(n)], seen["rank 0"] = true, true }
	for _, p := range printers {
		o := p.Origin
		switch {
		case o.Rank != nil && !m.shared[*o.Rank]:
			rank(*o.Rank)
		case o.LocalRank != nil:
			rank(*o.LocalRank)
		case oneOfSeveral(o.Process):
			return true
		case isWorker(o.Process):
			seen[o.Process+" "+pidText(o)+o.Host] = true
		}
	}
	for _, e := range events {
		if e.Message == nil {
			continue
		}
		for _, name := range []string{"rank", "local_rank"} {
			if n := number(e, name); n != nil && (e.Message.About == "named" || e.Message.About == "next") {
				rank(*n)
			}
		}
		// A peer, a collective or a second worker's pid: someone else was there.
		if e.Role == incident.RoleCollateral {
			seen["peer"] = true
			seen["self"] = true
		}
	}
	return len(seen) > 1 || len(m.workers) > 1
}

// perhapsSeveral reports whether the one process that the log shows may be one of
// several: frames of a stack that runs on many cards stand in its traceback, and no
// line tells how many.
//
//	File "/opt/conda/lib/python3.11/site-packages/torch/distributed/elastic/multiprocessing/errors/__init__.py", line 355, in wrapper
func perhapsSeveral(events []*message.Event, world int) bool {
	if world == 1 {
		return false
	}
	for _, e := range events {
		if n := number(e, "tp_size"); n != nil && *n == 1 {
			return false
		}
	}
	for _, e := range events {
		if e.Traceback == nil {
			continue
		}
		for _, f := range e.Traceback.Frames {
			for _, stack := range []string{"/torch/distributed/", "/sglang/srt/", "/vllm/", "/megatron/", "/deepspeed/runtime/", "/ray/"} {
				if strings.Contains(f.Path, stack) {
					return true
				}
			}
		}
	}
	return false
}
