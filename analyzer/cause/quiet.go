package cause

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// The verdicts of logs in which no process states a failure of its own: a line
// warns, or wrappers only repeat. Memory that grows is in growth.go, victims that
// only waited in waited.go.

// warned is the verdict of a log in which nothing failed, but a line warns of a
// failure that its file describes.
func (q *Inquiry) warned() (incident.Verdict, bool) {
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleSymptom {
			continue
		}
		c := q.classify(e)
		if c.failure == nil {
			continue
		}
		v := incident.Verdict{Status: incident.Undetermined, Signature: &c.failure.ID, Confidence: atMostLikely(c.confidence)}
		q.describe(&v, c.failure, e)
		origin := e.Origin
		if q.Run.Several {
			origin = incident.Origin{} // a warning convicts nobody, and often one rank prints for all
		}
		v.Initiator = q.person(e, origin)
		what, _ := fill(c.failure.Title, values(e))
		v.Title = "Undetermined: nothing failed in this log, but it warns that " + what
		v.MissingFact = q.missing(c.failure, e)
		return v, true
	}
	return incident.Verdict{}, false
}

// repeatedOnly is the verdict where only wrappers speak: they repeat a failure
// whose own lines are not here.
func (q *Inquiry) repeatedOnly() (incident.Verdict, bool) {
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleEcho {
			continue
		}
		v := incident.Verdict{
			Status: incident.Undetermined, Confidence: incident.Possible, GraphPoolIsCause: incident.Unknown,
			Title:   "Undetermined: this log only repeats a failure that was printed elsewhere",
			Summary: "The lines here come from a parent process. The process that failed printed its own traceback above them, or in another file.",
			Evidence: []incident.Evidence{{
				Location: e.Location(), For: incident.Neutral, Says: explain(e, "it repeats the failure of another process"),
			}},
			MissingFact: linesAbove(),
		}
		q.quotes(&v)
		var suspect *finding
		if rank, exit := q.exited(); rank != nil {
			suspect = &finding{origin: incident.Origin{Rank: rank, RankFrom: "launcher's summary"}}
			v.Initiator = &incident.Initiator{Rank: rank, RankFrom: "launcher's summary", FrameTrusted: true}
			v.Title = fmt.Sprintf("Undetermined: the launcher saw rank %d alone end by itself, and its own lines are not here", *rank)
			v.Evidence = append(v.Evidence, incident.Evidence{Location: exit.Location(), For: incident.Supports, Says: v.Title[len("Undetermined: "):]})
			v.MissingFact = ownLog(*rank)
		}
		v.Collateral = q.collateral(suspect)
		return v, true
	}
	return incident.Verdict{}, false
}

// quotes adds what the wrappers say of the failure itself, if one quotes a text that a
// signature knows. Who it was, and where in the program, they do not say.
//
//	(EngineCore_DP0 pid=97) RuntimeError: Worker failed with error 'CUDA error: out of memory
func (q *Inquiry) quotes(v *incident.Verdict) {
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleEcho || e.Role != incident.RoleInitiator || e.Weak() {
			continue
		}
		c := q.classify(e)
		if c.failure == nil {
			continue
		}
		v.Signature = &c.failure.ID
		v.Initiator = q.person(e, incident.Origin{})
		what, _ := fill(c.failure.Title, values(e))
		v.Title = "Undetermined: this log only repeats what another process said: " + what
		return
	}
}

// exited returns the one rank that a launcher saw end by itself with an error's exit
// code, and the line that says so. A signal or an abort is how victims end.
//
//	rank      : 3 (local_rank: 3)
//	exitcode  : 1 (pid: 4242)
func (q *Inquiry) exited() (*int, *message.Event) {
	var first *message.Event
	for _, e := range q.Run.Events {
		code, ok := e.Facts["exit_code"]
		if !ok || !e.Named() || e.Origin.Rank == nil || code.Int <= 0 || code.Int >= 128 {
			continue
		}
		if first == nil {
			first = e
		}
		if *e.Origin.Rank != *first.Origin.Rank {
			return nil, nil
		}
	}
	if first == nil {
		return nil, nil
	}
	q.because(ruleTable, where(first), "nobody's own lines are in the log, and rank %d is the only one that ended by itself", *first.Origin.Rank)
	return first.Origin.Rank, first
}
