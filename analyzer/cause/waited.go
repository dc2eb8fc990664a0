package cause

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

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
		if a.at != nil {
			at := a.at.Location()
			v.Initiator.Location, v.Initiator.StatedAt = &at, &at
		}
		who = fmt.Sprintf("rank %d", *a.rank)
	}
	if len(a.ranks) > 1 {
		if a.at != nil {
			v.Initiator = q.person(a.at, incident.Origin{})
		}
		f = &finding{suspects: a.ranks}
		from := "absence"
		if a.path {
			from = "its end of the path"
		}
		for _, rank := range a.ranks {
			v.CoInitiators = append(v.CoInitiators, incident.Initiator{Rank: &rank, RankFrom: from, FrameTrusted: true})
		}
		who = rankList(a.ranks)
	}
	if a.why != "" {
		at := a.first.Location()
		if a.at != nil {
			at = a.at.Location()
		}
		v.Evidence = append(v.Evidence, incident.Evidence{Location: at, For: incident.Supports, Says: a.why})
	}
	if a.stated {
		q.splitVerdict(&v, a)
	}
	v.Collateral = q.collateral(f)
	if f == nil && !a.stated && q.allWaited() {
		// The one to blame is among those that waited: nobody is known to have
		// only suffered.
		v.Collateral = nil
	}
	if a.rank != nil || len(a.ranks) > 1 {
		v.Title = fmt.Sprintf("Undetermined: %s only waited; suspect: %s", waiters(v.Collateral), who)
		doing := "What it was doing"
		if len(a.ranks) > 1 {
			doing = "What they were doing"
		}
		v.Summary = upperFirst(a.why) + ". " + doing + " is not in this log."
	} else {
		v.Title = fmt.Sprintf("Undetermined: %s only waited, and nothing in this log says for whom", waiters(v.Collateral))
		v.Summary = "Every line about a failure was printed by a process that suffered from it. The failure itself is not in this log."
	}
	if a.path {
		v.Title = fmt.Sprintf("Undetermined: the network between the hosts of %s failed, and this log does not say why", who)
		v.Summary = upperFirst(a.why) + "."
		v.GraphPoolIsCause = incident.No
		v.Evidence = append(v.Evidence, incident.Evidence{Location: a.at.Location(), For: incident.Refutes, Says: "a path between hosts is no matter of memory"})
	}
	switch {
	case a.stated:
		v.MissingFact = callSites(a.at)
	case a.rank != nil:
		v.MissingFact = silentLog(*a.rank)
	case a.path:
		v.MissingFact = pathBetween(a.at)
	case len(a.ranks) > 1:
		v.MissingFact = silentLog(a.ranks...)
	case a.peer != nil && !q.speaks(a.peer.host):
		v.MissingFact = peersLog(a.peer)
	case a.idle != nil:
		v.MissingFact = busyWith()
	default:
		v.MissingFact = q.missing(c.failure, a.first)
	}
	return v
}

// splitVerdict: ranks that wait in different collectives stated themselves where
// they were, and that is no matter of memory.
func (q *Inquiry) splitVerdict(v *incident.Verdict, a *absence) {
	v.Initiator = q.person(a.at, a.at.Origin)
	if a.rank == nil {
		v.Initiator.Rank, v.Initiator.RankFrom = nil, ""
	}
	v.Confidence = incident.Likely
	v.GraphPoolIsCause = incident.No
	v.Evidence = append(v.Evidence, incident.Evidence{
		Location: a.at.Location(), For: incident.Refutes, Says: "the ranks run different code: that is no matter of memory",
	})
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
