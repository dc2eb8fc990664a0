package cause

import (
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
)

// stopped returns the order from outside that ended the run (an interrupt, a time
// limit), if nothing told of another end before it. What processes print of being
// ended comes behind it and needs no cause of its own.
func (q *Inquiry) stopped() *message.Event {
	for _, e := range q.Run.Events {
		switch role := q.roles[e]; {
		case role == incident.RoleInitiator:
			return nil
		case e.Outside() && role != incident.RoleContext && role != incident.RoleEcho:
			return e
		case role == incident.RoleCollateral:
			return nil
		}
	}
	return nil
}

// after reports whether a failure followed the order from outside.
func after(f *finding, stop *message.Event) bool {
	return stop != nil && timeline.Compare(f.event, stop) != timeline.Earlier
}

// stoppedVerdict says that no process failed. Whether the run went on or hung
// until then is the open question: both look the same from here.
func (q *Inquiry) stoppedVerdict(e *message.Event) incident.Verdict {
	q.because(ruleStopped, where(e), "%s ends the run from outside, and no process told of a failure before", place(e))
	v := incident.Verdict{
		Status: incident.Diagnosed, Confidence: incident.Likely, GraphPoolIsCause: incident.No,
		Title:   "No process failed: the run was ended from outside",
		Summary: upperFirst(explain(e, "it was ended from outside")) + " No line before it states a failure.",
		Evidence: []incident.Evidence{{
			Location: e.At.Location(), For: incident.Refutes, Says: "the run was ended from outside, and not by a lack of memory",
		}},
		MissingFact: &incident.MissingFact{
			ID:   "progress-before-the-end",
			Fact: "whether the run still made progress before " + place(e) + ": a hang ends like this too",
			How:  "compare the times of the last steps of each rank with the time of the end; on the next hang: py-spy dump --pid PID on each rank",
		},
	}
	v.Initiator = q.person(e, incident.Origin{})
	v.Collateral = q.collateral(nil)
	return v
}
