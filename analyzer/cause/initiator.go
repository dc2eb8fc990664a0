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
	// suspects are ranks that did not come, of which one or all may have failed.
	suspects []int
	// symmetric: every rank failed alike, so that there is no first one to find.
	symmetric bool
	// spreading: many ranks failed alike and the rest was only ended, perhaps just
	// before it would have failed too.
	spreading bool
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
	q.borrowTimes(own)
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

// borrowTimes dates a failure without a time by the same failure of the same
// process printed again with one: torchrun's error.json has the second in which
// the exception was raised, the traceback on standard error has none.
func (q *Inquiry) borrowTimes(own []*message.Event) {
	type account struct {
		who           incident.Key
		id, exception string
	}
	of := func(e *message.Event) account {
		return account{timeline.Who(e.Origin), e.ID, e.Traceback.Exception}
	}
	timed := map[account]*message.Event{}
	for _, e := range q.Run.Events {
		if e.Time != nil && e.Traceback != nil && timed[of(e)] == nil {
			timed[of(e)] = e
		}
	}
	for _, e := range own {
		if e.Time != nil || e.Traceback == nil {
			continue
		}
		if again := timed[of(e)]; again != nil && again.At.File != e.At.File {
			e.Time = again.Time
		}
	}
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
	own := q.labelled(q.own())
	if len(own) == 0 {
		return nil
	}
	f := earliest(own)
	q.explainOrder(f)
	q.preferOutside(f)
	q.preferKnown(f)
	q.nameByLauncher(f)
	if len(f.tied) > 0 {
		q.alike(f)
		f.origin.Rank, f.origin.RankFrom = nil, ""
	}
	return f
}

func earliest(own []*message.Event) *finding {
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
	return f
}

func (q *Inquiry) explainOrder(f *finding) {
	switch {
	case len(f.tied) > 0:
		q.because(ruleTie, where(f.event), "%d processes failed by themselves, and no printed time puts one first", len(f.tied)+1)
	case len(f.later) > 0:
		q.because(ruleEarliest, where(f.event), "%s failed first by its time; %d others failed later, the next one at %s", whose(f.event), len(f.later), place(f.later[0]))
	default:
		q.because(ruleOnly, where(f.event), "%s is the only process with a failure of its own", whose(f.event))
	}
}

func whose(e *message.Event) string {
	if name := e.Origin.Name(); name != "" {
		return name
	}
	return "the process at " + place(e)
}

// labelled gives lines without a label to the only rank that prints the same
// failure elsewhere, in a line that is no traceback: the main thread's traceback
// has no label before PyTorch installs its own hook, the watchdog's line has.
//
//	torch.AcceleratorError: CUDA error: an illegal memory access was encountered
//	[rank1]:[E1208 10:02:19.55 ProcessGroupNCCL.cpp:2057] ... Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered
func (q *Inquiry) labelled(own []*message.Event) []*message.Event {
	var bare *message.Event
	for _, e := range own {
		if !e.Origin.Known() {
			bare = e
			break
		}
	}
	if bare == nil || !q.Run.Several {
		return own
	}
	var same []*message.Event
	for _, e := range own {
		if e != bare && e.ID == bare.ID {
			same = append(same, e)
		}
	}
	if len(same) != 1 || same[0].Origin.Rank == nil || same[0].Traceback != nil {
		return own
	}
	bare.Origin = same[0].Origin
	bare.Origin.RankFrom = "the only rank that prints the same failure"
	q.because(ruleUnlabelled, where(same[0]), "%s is given to %s, the only rank that prints the same failure", place(bare), whose(same[0]))
	q.roles[same[0]] = incident.RoleEcho
	return slices.DeleteFunc(own, func(e *message.Event) bool { return e == same[0] })
}
