package cause

import (
	"slices"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
)

// finding is who started it, as far as the log tells.
type finding struct {
	// event states the failure; nil if only victims speak.
	event *message.Event
	// origin is the process; its rank is nil where it cannot be told.
	origin incident.Origin
	// tied failed by themselves at the same moment, event's own process left out.
	tied []*message.Event
	// later failed by themselves, but after it.
	later []*message.Event
	// symmetric: every rank failed alike, so that there is no first one to find.
	symmetric bool
}

// own returns the first failure of each process that has one of its own, in the
// order of the log. An exception that no signature knows was handled if the same
// process went on to fail in a way that is known, and not while it handled it.
func (q *Inquiry) own() []*message.Event {
	var own []*message.Event
	at := map[incident.Key]int{}
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleInitiator {
			continue
		}
		who := timeline.Who(e.Origin)
		i, seen := at[who]
		switch {
		case !seen:
			at[who] = len(own)
			own = append(own, e)
		case own[i].ID == message.PythonException && e.ID != message.PythonException && e.Traceback != nil:
			q.roles[own[i]] = incident.RoleSymptom
			own[i] = e
		}
	}
	slices.SortStableFunc(own, func(a, b *message.Event) int {
		switch {
		case a.At.Before(b.At):
			return -1
		case b.At.Before(a.At):
			return 1
		}
		return 0
	})
	return dropAnonymous(own)
}

// dropAnonymous leaves out lines of the system that name no process, where
// processes tell of their own failure:
//
//	slurmstepd: error: Detected 1 oom_kill event in StepId=90211.0.
//	srun: error: cn-24: task 12: Out Of Memory
func dropAnonymous(own []*message.Event) []*message.Event {
	named := slices.ContainsFunc(own, func(e *message.Event) bool { return e.Origin.Known() })
	if !named {
		return own
	}
	return slices.DeleteFunc(own, func(e *message.Event) bool { return !e.Origin.Known() && e.Traceback == nil })
}

// initiator orders the failures that processes had of their own. One alone is
// the initiator, whatever the victims printed before it. Of several, the one
// that all clocks put first; if clocks cannot, they are tied and no rank is named.
func (q *Inquiry) initiator() *finding {
	own := q.own()
	if len(own) == 0 {
		return nil
	}
	first := own[0]
	for _, e := range own[1:] {
		if timeline.Compare(e, first) == timeline.Earlier {
			first = e
		}
	}
	f := &finding{event: first, origin: first.Origin}
	for _, e := range own {
		switch {
		case e == first:
		case timeline.Compare(first, e) == timeline.Earlier:
			f.later = append(f.later, e)
		default:
			f.tied = append(f.tied, e)
		}
	}
	f.preferKnown()
	q.nameByLauncher(f)
	if len(f.tied) > 0 {
		f.symmetric = q.symmetric(f)
		f.origin.Rank, f.origin.RankFrom = nil, ""
	}
	return f
}

// preferKnown: of tied failures, an exception that no signature knows is more
// likely a consequence than a cause, if another one is known.
func (f *finding) preferKnown() {
	var known, unknown []*message.Event
	for _, e := range append([]*message.Event{f.event}, f.tied...) {
		if e.ID == message.PythonException {
			unknown = append(unknown, e)
		} else {
			known = append(known, e)
		}
	}
	if len(known) == 0 || len(unknown) == 0 {
		return
	}
	f.event, f.origin, f.tied = known[0], known[0].Origin, known[1:]
	f.later = append(f.later, unknown...)
}

// symmetric reports whether all ranks of the job failed alike at the same moment.
func (q *Inquiry) symmetric(f *finding) bool {
	ranks := map[int]bool{}
	for _, e := range append([]*message.Event{f.event}, f.tied...) {
		if e.ID != f.event.ID || e.Origin.Rank == nil {
			return false
		}
		ranks[*e.Origin.Rank] = true
	}
	expected := q.Run.World
	if expected == 0 {
		expected = len(q.Run.Ranks)
	}
	return len(ranks) > 1 && len(ranks) == expected
}
