package cause

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// What ranks say of their collectives: the counters of their work, and in which
// collective they waited.

// lagging returns the one rank whose last enqueued work is lower than everyone
// else's. Counters of different process groups do not compare, so that only
// lines of the default group count where groups are named.
func (q *Inquiry) lagging() (*int, *message.Event) {
	at := q.lastWork()
	if len(at) < 3 { // of two ranks either may be the one that left the plan
		return nil, nil
	}
	best, ties := -1, 0
	enqueued := func(r int) int64 { return at[r].Facts["last_enqueued"].Int }
	for r := range at {
		switch {
		case best < 0 || enqueued(r) < enqueued(best):
			best, ties = r, 0
		case enqueued(r) == enqueued(best):
			ties++
		}
	}
	if ties > 0 {
		return nil, nil
	}
	if !q.apart(at, best) {
		return nil, nil
	}
	return &best, at[best]
}

// apart reports whether a rank stands apart from all others: they had enqueued the
// collective that timed out and it had not, or they agree on how far they were.
// Where they differ among themselves too, the job split and nobody stands out.
func (q *Inquiry) apart(at map[int]*message.Event, best int) bool {
	agree, came := true, true
	var other *int64
	for r, e := range at {
		if r == best {
			continue
		}
		n := e.Facts["last_enqueued"].Int
		if other != nil && *other != n {
			agree = false
		}
		other = &n
		seq, ok := e.Facts["seq"]
		came = came && ok && n >= seq.Int && at[best].Facts["last_enqueued"].Int < seq.Int
	}
	for _, e := range q.Run.Events { // it says that it waited there too
		seq, ok := e.Facts["seq"]
		if e.ID == "c10d-timeout" && ok && e.Origin.Rank != nil && *e.Origin.Rank == best && seq.Int > at[best].Facts["last_enqueued"].Int {
			came = false
		}
	}
	return agree || came
}

// lastWork returns each rank's latest status line of the default group.
func (q *Inquiry) lastWork() map[int]*message.Event {
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
		if old := at[r]; old == nil || f.Int > old.Facts["last_enqueued"].Int {
			at[r] = e
		}
	}
	return at
}

// nothingPending returns a status line if all ranks that print one had completed
// what they enqueued.
func (q *Inquiry) nothingPending() *message.Event {
	at := q.lastWork()
	var first *message.Event
	for _, e := range at {
		done, ok := e.Facts["last_completed"]
		if !ok || done.Int != e.Facts["last_enqueued"].Int {
			return nil
		}
		if first == nil || e.At.Before(first.At) {
			first = e
		}
	}
	if len(at) < 2 {
		return nil
	}
	return first
}

// collective is what a rank waited in.
type collective struct {
	op    string
	numel int64
}

// single reports whether it only carries a flag or a metric.
func (c collective) single() bool { return c.numel > 0 && c.numel <= maxFlag || c.op == "BARRIER" }

// maxFlag is how many elements a flag, a count or a metric has at most.
const maxFlag = 8

// split returns the ranks that waited in another collective than the rest at the
// same sequence number, and the line of the first of them. Point-to-point
// transfers count for themselves, and so do groups other than the default one.
func (q *Inquiry) split() ([]int, *message.Event) {
	waited := map[int64]map[int]*message.Event{} // by sequence number and rank
	for _, e := range q.Run.Events {
		seq, ok := e.Facts["seq"]
		if e.ID != "c10d-timeout" || !ok || e.Origin.Rank == nil || e.Facts["pg_id"].Int != 0 {
			continue
		}
		if op := e.Facts["op"].Text; op == "SEND" || op == "RECV" || op == "COALESCED" {
			continue
		}
		if r, ok := e.Facts["group_rank"]; ok && int(r.Int) != *e.Origin.Rank {
			return nil, nil // a smaller group, whose numbers are its own
		}
		if waited[seq.Int] == nil {
			waited[seq.Int] = map[int]*message.Event{}
		}
		if waited[seq.Int][*e.Origin.Rank] == nil {
			waited[seq.Int][*e.Origin.Rank] = e
		}
	}
	if len(waited) != 1 {
		return nil, nil
	}
	for _, ranks := range waited {
		return minority(ranks)
	}
	return nil, nil
}

func minority(ranks map[int]*message.Event) ([]int, *message.Event) {
	groups := map[collective][]int{}
	for r, e := range ranks {
		c := collective{op: e.Facts["op"].Text, numel: e.Facts["numel_in"].Int}
		groups[c] = append(groups[c], r)
	}
	if len(groups) != 2 {
		return nil, nil
	}
	var kinds []collective
	for c := range groups {
		kinds = append(kinds, c)
	}
	a, b := kinds[0], kinds[1]
	if len(groups[a]) > len(groups[b]) {
		a, b = b, a
	}
	if len(groups[a]) == len(groups[b]) {
		if a.single() == b.single() {
			return nil, nil
		}
		if b.single() {
			a = b
		}
	}
	out := groups[a]
	slices.Sort(out)
	first := ranks[out[0]]
	for _, r := range out {
		if ranks[r].At.Before(first.At) {
			first = ranks[r]
		}
	}
	return out, first
}

// reportedAbsent returns the ranks that reports name as those that did not come, and
// the fullest report: PyTorch's desync report, Horovod's stall inspector, gloo's
// barrier, which names them one by one and then all.
func (q *Inquiry) reportedAbsent() ([]int, *message.Event) {
	named := map[int]bool{}
	var report *message.Event
	most := 0
	for _, e := range q.Run.Events {
		if e.Message == nil || e.Message.About != "absent" {
			continue
		}
		ranks := absentRanks(e)
		for _, r := range ranks {
			named[r] = true
		}
		if len(ranks) > most {
			report, most = e, len(ranks)
		}
	}
	if most != len(named) { // the reports differ
		return nil, nil
	}
	return slices.Sorted(maps.Keys(named)), report
}

// absentRanks reads the ranks that a report names: "3", or "2, 5".
func absentRanks(e *message.Event) []int {
	f, ok := e.Facts["rank"]
	if !ok {
		return nil
	}
	if f.Kind == incident.KindInt {
		return []int{int(f.Int)}
	}
	var ranks []int
	for part := range strings.SplitSeq(f.Text, ",") {
		rank, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil
		}
		ranks = append(ranks, rank)
	}
	return ranks
}
