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
	// rank is the suspect, nil if none stands out; why says so.
	rank *int
	why  string
	// at is the line that singles the suspect out, nil if it is its silence.
	at *message.Event
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
	if rank, at := q.lagging(); rank != nil {
		a.rank, a.at = rank, at
		a.why = fmt.Sprintf("rank %d had enqueued less work than every other rank: it never came to the collective that the others waited in", *rank)
		return a
	}
	if rank := q.silent(); rank != nil {
		a.rank = rank
		a.why = fmt.Sprintf("rank %d reported nothing while every other rank did", *rank)
	}
	return a
}

// silent returns the one rank that did not report a timeout while all others
// did. The size of the job must be known, or the rank must have printed before.
func (q *Inquiry) silent() *int {
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
	var expected []int
	if q.Run.World > 0 {
		for r := range min(q.Run.World, 1<<16) {
			expected = append(expected, r)
		}
	} else {
		expected = q.Run.Ranks
	}
	var missing []int
	for _, r := range expected {
		if !reported[r] {
			missing = append(missing, r)
		}
	}
	if len(missing) != 1 || len(expected) < 2 {
		return nil
	}
	return &missing[0]
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

// lagging returns the one rank whose last enqueued work is lower than everyone
// else's. Counters of different process groups do not compare, so that only
// lines of the default group count where groups are named.
func (q *Inquiry) lagging() (*int, *message.Event) {
	lowest := map[int]int64{}
	at := map[int]*message.Event{}
	for _, e := range q.Run.Events {
		f, ok := e.Facts["last_enqueued"]
		if !ok || f.Kind != incident.KindInt || e.Origin.Rank == nil || f.Int < 0 {
			continue
		}
		if group, ok := e.Facts["pg_id"]; ok && group.Int != 0 {
			continue
		}
		r := *e.Origin.Rank
		if old, seen := lowest[r]; !seen || f.Int > old {
			lowest[r], at[r] = f.Int, e
		}
	}
	if len(lowest) < 3 { // of two ranks either may be the one that left the plan
		return nil, nil
	}
	best, ties := -1, 0
	for r, n := range lowest {
		switch {
		case best < 0 || n < lowest[best]:
			best, ties = r, 0
		case n == lowest[best]:
			ties++
		}
	}
	if ties > 0 {
		return nil, nil
	}
	// The others must agree among themselves: where they differ too, the job
	// split and nobody stands out.
	var other *int64
	for r, n := range lowest {
		if r == best {
			continue
		}
		if other != nil && *other != n {
			return nil, nil
		}
		other = &n
	}
	return &best, at[best]
}
