package cause

import (
	"fmt"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// The verdicts of logs in which no line states a failure of its own: memory that
// grows, a warning, victims that only waited, wrappers that only repeat.

// grew is the verdict of a log in which nothing failed but memory rises with
// every capture.
func (q *Inquiry) grew() (incident.Verdict, bool) {
	for _, reserved := range q.Tracks {
		if reserved.Metric != memory.Reserved {
			continue
		}
		var allocated *memory.Track
		for _, t := range q.Tracks {
			if t.Metric == memory.Allocated && timeline.Same(t.Origin, reserved.Origin) {
				allocated = t
			}
		}
		g := memory.Grown(reserved, allocated)
		if g == nil || !g.Captures {
			continue
		}
		var best *signatures.State
		var failure *signatures.Failure
		for _, f := range q.Set.Failures() {
			for i := range f.States {
				s := &f.States[i]
				if s.Growth && (best == nil || s.Rank > best.Rank) && q.holds(s.When, nil).holds == incident.Yes {
					best, failure = s, f
				}
			}
		}
		if best != nil {
			return q.growth(failure, g, best), true
		}
	}
	return incident.Verdict{}, false
}

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
		v := incident.Verdict{Status: incident.Undetermined, Signature: &c.failure.ID, Confidence: weaker(c.confidence, incident.Likely)}
		q.describe(&v, c.failure, e)
		origin := e.Origin
		for _, other := range q.Run.Events {
			if other.ID == e.ID && !timeline.Same(other.Origin, e.Origin) {
				origin = incident.Origin{} // several warn: it is nobody's alone
			}
		}
		v.Initiator = q.person(e, origin)
		what, _ := fill(c.failure.Title, values(e))
		v.Title = "Undetermined: nothing failed in this log, but it warns that " + what
		v.MissingFact = q.missing(c.failure, e)
		return v, true
	}
	return incident.Verdict{}, false
}

func (q *Inquiry) growth(f *signatures.Failure, g *memory.Growth, s *signatures.State) incident.Verdict {
	first, last := g.Rises[0], g.Rises[len(g.Rises)-1]
	v := incident.Verdict{Status: incident.Diagnosed, Signature: &f.ID, Confidence: incident.Likely}
	if s.Confidence != "" {
		v.Confidence = incident.Confidence(s.Confidence)
	}
	q.describe(&v, f, nil)
	v.GraphPoolIsCause = incident.Yes
	says := fmt.Sprintf("reserved memory rose at each of %d captures, from %s to %s, while live memory did not",
		len(g.Rises)-1, memory.Format(first.Size.Bytes), memory.Format(last.Size.Bytes))
	v.Evidence = append([]incident.Evidence{{Location: last.At, Says: says, For: incident.Supports}}, v.Evidence...)
	v.Title = "Reserved memory grows with every graph capture"
	v.Summary = strings.TrimSpace(upperFirst(says) + ". " + v.Summary)
	o := g.Reserved.Origin
	if o.Rank == nil && !q.Run.Several {
		zero := 0
		o.Rank, o.RankFrom = &zero, "the only process"
	}
	at := g.Rises[min(1, len(g.Rises)-1)].At
	v.Initiator = &incident.Initiator{
		Rank: o.Rank, LocalRank: o.LocalRank, PID: o.PID, RankFrom: o.RankFrom,
		Location: &at, StatedAt: &at, Time: first.Stamp.Time(), FrameTrusted: true,
	}
	if len(v.Fixes) == 0 {
		v.MissingFact = q.missing(f, nil)
	}
	return v
}

// waited is the verdict where all that speak only waited for someone else.
func (q *Inquiry) waited(a *absence) incident.Verdict {
	v := incident.Verdict{Status: incident.Undetermined, Confidence: incident.Possible, GraphPoolIsCause: incident.Unknown}
	c := q.classify(a.first)
	if c.failure != nil {
		v.Signature = &c.failure.ID
		q.describe(&v, c.failure, a.first)
		v.Fixes, v.Verify = nil, nil // nobody knows yet what to fix
	}
	v.Evidence = append(v.Evidence, incident.Evidence{Location: a.first.Location(), For: incident.Neutral, Says: "the first line that tells of the failure, printed by a victim"})
	var f *finding
	who := "no rank"
	if a.rank != nil {
		o := incident.Origin{Rank: a.rank, RankFrom: "absence"}
		f = &finding{origin: o}
		v.Initiator = &incident.Initiator{Rank: a.rank, RankFrom: "absence", FrameTrusted: true}
		who = fmt.Sprintf("rank %d", *a.rank)
		at := a.first.Location()
		if a.at != nil {
			at = a.at.Location()
		}
		v.Evidence = append(v.Evidence, incident.Evidence{Location: at, For: incident.Supports, Says: a.why})
	}
	v.Collateral = q.collateral(f)
	if a.rank == nil && q.allWaited() {
		// The one to blame is among those that waited: nobody is known to have
		// only suffered.
		v.Collateral = nil
	}
	if a.rank != nil {
		v.Title = fmt.Sprintf("Undetermined: %s only waited; suspect: %s", waiters(v.Collateral), who)
		v.Summary = upperFirst(a.why) + ". What it was doing is not in this log."
	} else {
		v.Title = fmt.Sprintf("Undetermined: %s only waited, and nothing in this log says for whom", waiters(v.Collateral))
		v.Summary = "Every line about a failure was printed by a process that suffered from it. The failure itself is not in this log."
	}
	v.MissingFact = q.missing(c.failure, a.first)
	if a.rank != nil {
		v.MissingFact = silentLog(*a.rank)
	}
	return v
}

func waiters(c []incident.Collateral) string {
	var ranks []int
	for _, x := range c {
		if x.Rank != nil {
			ranks = append(ranks, *x.Rank)
		}
	}
	if len(ranks) == 0 {
		return "the processes seen"
	}
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + incident.Ranges(ranks)
}

// repeatedOnly is the verdict where only wrappers speak: they repeat a failure
// whose own lines are not here.
func (q *Inquiry) repeatedOnly() (incident.Verdict, bool) {
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleEcho {
			continue
		}
		at := e.Location()
		v := incident.Verdict{
			Status: incident.Undetermined, Confidence: incident.Possible, GraphPoolIsCause: incident.Unknown,
			Title:   "Undetermined: this log only repeats a failure that was printed elsewhere",
			Summary: "The lines here come from a parent process. The process that failed printed its own traceback above them, or in another file.",
			Evidence: []incident.Evidence{{
				Location: at, For: incident.Neutral, Says: explain(e, "it repeats the failure of another process"),
			}},
			MissingFact: linesAbove(),
			Collateral:  q.collateral(nil),
		}
		return v, true
	}
	return incident.Verdict{}, false
}
