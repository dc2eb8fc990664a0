// Package cause reasons: which process started it, who only suffered, which
// failure it was, whether graph memory is the cause, and which fact is missing
// where the log cannot tell.
//
// The order of the reasoning is the order of the files: roles.go takes away what
// only repeats or follows, initiator.go orders what is left (ties.go where clocks
// do not, launcher.go where lines carry no rank), waiting.go looks for who is absent
// where all only waited (work.go by their collectives, peers.go by whom they name),
// classify.go finds the failure by the conditions in its file, verdict.go puts the
// answer together (quiet.go where no line states a failure). rules.go names the
// rules and where each misleads. A wrong rank or
// cause is worse than none, so that each step may stop with "not known".
package cause

import (
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// Inquiry is all that the reasoning works on.
type Inquiry struct {
	Run    *timeline.Run
	Set    *signatures.Set
	Tracks []*memory.Track

	roles   map[*message.Event]incident.Role
	reasons []incident.Reason
}

// Conclusion is the verdict, and the event that it is about.
type Conclusion struct {
	Verdict incident.Verdict
	// Initiating is nil where no line states the failure.
	Initiating *message.Event
	// Roles are the events' parts in this incident.
	Roles map[*message.Event]incident.Role
}

// Conclude reasons over the inquiry.
func (q *Inquiry) Conclude() Conclusion {
	q.roles = assignRoles(q.Run)
	q.setAside()
	v, e := q.verdict()
	v.Reasoning = q.reasons
	return Conclusion{Verdict: v, Initiating: e, Roles: q.roles}
}

// SameAs reports whether two attempts of a run failed in the same way.
func (c Conclusion) SameAs(other Conclusion) bool {
	a, b := c.Initiating, other.Initiating
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && (a.ID != message.PythonException || a.At.Text == b.At.Text)
}
