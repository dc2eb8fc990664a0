package cause

import "github.com/graphtrap/graphtrap/analyzer/incident"

// nameByLauncher gives a rank to a failure whose lines carry none, from what the
// launcher says of its workers: the only one that ended by itself, or the only one
// that the launcher did not have to end. A launcher's claim of a root cause is
// not used: that is the exit that it saw first.
//
//	E1220 03:44:33 ... failed (exitcode: 1) local_rank: 1 (pid: 1288) of binary: ...
//	Failures:
//	  <NO_OTHER_FAILURES>
func (q *Inquiry) nameByLauncher(f *finding) {
	if f.origin.Known() || len(f.tied) > 0 || !q.Run.Several {
		return
	}
	byItself, ended := map[int]bool{}, map[int]bool{}
	for _, e := range q.Run.Events {
		if e.Message == nil || e.Message.About != "named" || e.Origin.Rank == nil {
			continue
		}
		code, ok := e.Facts["exit_code"]
		switch {
		case ok && code.Int > 0 && code.Int < 128:
			byItself[*e.Origin.Rank] = true
		case ok, q.roles[e] == incident.RoleCollateral:
			ended[*e.Origin.Rank] = true
		}
	}
	if rank, ok := only(byItself); ok {
		f.origin.Rank, f.origin.RankFrom = &rank, "the only worker that the launcher saw fail by itself"
		return
	}
	left := map[int]bool{}
	for rank := range min(q.Run.World, 1<<16) {
		left[rank] = !ended[rank]
	}
	for rank := range left {
		if !left[rank] {
			delete(left, rank)
		}
	}
	if rank, ok := only(left); ok && len(byItself) == 0 && len(ended) > 0 {
		f.origin.Rank, f.origin.RankFrom = &rank, "the only worker that the launcher did not end"
	}
}

func only(set map[int]bool) (int, bool) {
	if len(set) != 1 {
		return 0, false
	}
	for n := range set {
		return n, true
	}
	return 0, false
}
