package cause

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// absence is what can be said of who started it where all that speak only waited.
type absence struct {
	// first is the first line that tells of it.
	first *message.Event
	// rank is the suspect, nil if none stands out; why says so. Where a report names
	// several that did not come, ranks are they.
	rank  *int
	ranks []int
	why   string
	// at is the line that singles the suspect out, nil if it is its silence.
	at *message.Event
	// stated: the suspect itself printed that line.
	stated bool
	// path: what failed lies between the hosts of ranks, who blame each other.
	path bool
	// peer is whom the victims name as gone, nil if nobody.
	peer *peer
	// idle is a line that shows that no collective was pending.
	idle *message.Event
}

// absent looks for the rank that the others waited for. A rank that says nothing
// while all others complain is suspected, and never more than that.
func (q *Inquiry) absent() *absence {
	a := &absence{}
	for _, e := range q.Run.Events {
		if q.roles[e] == incident.RoleCollateral {
			a.first = e
			break
		}
	}
	if a.first == nil {
		return nil
	}
	if ranks, at := q.reportedAbsent(); len(ranks) > 0 {
		a.at, a.ranks = at, ranks
		who := "the one that did not come"
		if len(ranks) == 1 {
			a.rank = &ranks[0]
		} else {
			who = "those that did not come"
		}
		a.why = fmt.Sprintf("the report at %s names %s as %s", place(at), rankList(ranks), who)
		q.because(ruleReported, where(at), "%s", a.why)
		return a
	}
	if ranks, at := q.split(); ranks != nil {
		a.at, a.stated = at, true
		a.why = fmt.Sprintf("%s waited in another collective than the others at the same sequence number (%s of %d elements): it runs other code, or left the loop earlier",
			rankList(ranks), at.Facts["op"].Text, at.Facts["numel_in"].Int)
		if len(ranks) == 1 {
			a.rank = &ranks[0]
		}
		q.because(ruleSplit, where(at), "%s", a.why)
		return a
	}
	if rank, at := q.lagging(); rank != nil {
		a.rank, a.at = rank, at
		a.why = fmt.Sprintf("rank %d had enqueued less work than every other rank: it never came to the collective that the others waited in", *rank)
		q.because(ruleLagging, where(at), "%s", a.why)
		return a
	}
	if ranks, at := q.bothEnds(); len(ranks) > 1 {
		a.at, a.ranks, a.path = at, ranks, true
		a.why = fmt.Sprintf("two hosts report that the other one did not answer (%s): neither is gone, and what failed lies between them", rankList(ranks))
		q.because(rulePath, where(at), "%s", a.why)
		return a
	}
	if p := q.namedPeer(); p != nil {
		a.peer = p
		if p.rank != nil {
			a.rank, a.at = p.rank, p.at
			a.why = fmt.Sprintf("rank %d is the only peer that the victims name as gone", *p.rank)
			q.because(rulePeers, where(p.at), "%s", a.why)
			return a
		}
		q.because(rulePeers, where(p.at), "every victim that names its peer names %s", p.host)
	}
	if ranks := q.silent(); ranks != nil {
		a.ranks = ranks
		if len(ranks) == 1 {
			a.rank = &ranks[0]
		}
		a.why = fmt.Sprintf("%s reported nothing while every other rank did", rankList(ranks))
		q.because(ruleSilent, where(a.first), "%s", a.why)
		return a
	}
	if at := q.nothingPending(); at != nil {
		a.idle = at
		q.because(ruleNothingPending, where(at), "every rank had completed the work that it enqueued: what holds them is not a collective")
	}
	return a
}

func rankList(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + incident.Ranges(ranks)
}

// manyReport is how many ranks must have reported for each that is silent: where more
// are silent, they may be those of another group, or of a host whose log is missing.
const manyReport = 5

// silent returns the ranks that did not report a timeout while all others did: one, or
// a few of many. The size of the job must be known, or they must have printed before.
func (q *Inquiry) silent() []int {
	reported := map[int]bool{}
	for _, e := range q.Run.Events {
		if q.roles[e] == incident.RoleCollateral && e.Origin.Rank != nil {
			if _, waited := e.Facts["timeout"]; waited {
				reported[*e.Origin.Rank] = true
			}
		}
	}
	if len(reported) == 0 {
		return nil
	}
	expected := q.Run.Everyone()
	if expected == nil {
		expected = q.Run.Ranks
	}
	var missing []int
	for _, r := range expected {
		if !reported[r] {
			missing = append(missing, r)
		}
	}
	few := len(missing) == 1 || len(reported) >= manyReport*len(missing)
	if len(missing) == 0 || !few || len(expected) < 2 {
		return nil
	}
	return missing
}

// allWaited reports whether every rank that the log knows of waited in a
// collective that timed out.
func (q *Inquiry) allWaited() bool {
	waited := map[int]bool{}
	for _, e := range q.Run.Events {
		_, timeout := e.Facts["timeout"]
		_, work := e.Facts["last_enqueued"]
		if e.Origin.Rank != nil && (timeout || work) {
			waited[*e.Origin.Rank] = true
		}
	}
	if len(waited) < 2 || q.Run.World > len(waited) { // one alone waited for someone
		return false
	}
	for _, r := range q.Run.Ranks {
		if !waited[r] {
			return false
		}
	}
	return true
}
