package cause

import (
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// What decides between failures that no clock tells apart.

func (f *finding) all() []*message.Event {
	return append([]*message.Event{f.event}, f.tied...)
}

// prefer moves the tied failures that are not chosen to the later ones, if some
// are and some are not, and reports whether it did.
func (f *finding) prefer(chosen func(*message.Event) bool) bool {
	var yes, no []*message.Event
	for _, e := range f.all() {
		if chosen(e) {
			yes = append(yes, e)
		} else {
			no = append(no, e)
		}
	}
	if len(yes) == 0 || len(no) == 0 {
		return false
	}
	f.event, f.origin, f.tied = yes[0], yes[0].Origin, yes[1:]
	f.later = append(f.later, no...)
	return true
}

// preferOutside: of tied failures, what the kernel, the driver or the scheduler
// reports comes before what processes say of themselves.
func (q *Inquiry) preferOutside(f *finding) {
	if f.prefer(func(e *message.Event) bool { return e.Outside() }) {
		q.because(ruleOutside, where(f.event), "%s tells of it from outside the process", place(f.event))
	}
}

// preferKnown: of tied failures, an exception that no signature knows is more
// likely a consequence than a cause, if another one is known.
func (q *Inquiry) preferKnown(f *finding) {
	if f.prefer(func(e *message.Event) bool { return e.ID != message.PythonException }) {
		q.because(ruleKnown, where(f.event), "the other failures at the same moment are exceptions that no signature knows")
	}
}

// manyAlike is how many ranks must fail alike, with nobody telling of a lost peer,
// where not all ranks of the job print it or their lines carry no times.
const manyAlike = 3

// alike finds out whether the ranks of the job failed alike at the same moment: all
// of them, or many while the rest was only ended. Two ranks that print no times may
// as well have failed one after the other.
func (q *Inquiry) alike(f *finding) {
	ranks := map[int]bool{}
	timed := true
	for _, e := range f.all() {
		if e.ID != f.event.ID || e.Origin.Rank == nil {
			return
		}
		ranks[*e.Origin.Rank] = true
		timed = timed && e.Time != nil && e.Time.At != nil
	}
	expected := q.Run.World
	if expected == 0 {
		expected = len(q.Run.Ranks)
	}
	switch all := len(ranks) > 1 && len(ranks) == expected; {
	case all && (timed || q.Run.World > 0 || len(ranks) >= manyAlike):
		f.symmetric = true
		q.because(ruleAlike, where(f.event), "all %d ranks print the same failure at the same moment", len(ranks))
	case !all && len(ranks) >= manyAlike && !q.someSuffered(ranks):
		f.spreading = true
		q.because(ruleAlike, where(f.event), "%d ranks print the same failure at the same moment, and the rest was only ended", len(ranks))
	}
}

// someSuffered reports whether a rank other than these tells of a lost peer.
func (q *Inquiry) someSuffered(ranks map[int]bool) bool {
	for _, e := range q.Run.Events {
		if q.roles[e] == incident.RoleCollateral && !e.Named() && e.Origin.Rank != nil && !ranks[*e.Origin.Rank] {
			return true
		}
	}
	return false
}
