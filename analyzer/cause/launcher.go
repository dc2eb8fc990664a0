package cause

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// nameByLauncher gives a rank to a failure whose lines carry none, from what the
// launcher says of its workers: the only one that ended by itself, or the only one
// that the launcher did not have to end. A launcher's claim of a root cause is
// not used: that is the exit that it saw first.
//
//	E1220 03:44:33 ... failed (exitcode: 1) local_rank: 1 (pid: 1288) of binary: ...
//	Failures:
//	  <NO_OTHER_FAILURES>
func (q *Inquiry) nameByLauncher(f *finding) {
	if f.origin.Rank != nil || len(f.tied) > 0 || !q.Run.Several || f.event.Outside() {
		return
	}
	if rank := q.aborted(); rank != nil {
		q.nameRank(f, *rank, "the rank that aborted the run")
		return
	}
	if f.origin.Known() {
		return
	}
	if ranks := q.silent(); len(ranks) == 1 {
		q.nameRank(f, ranks[0], "the only rank that does not tell that it waited")
		return
	}
	byItself, ended := map[int]bool{}, map[int]bool{}
	stepEnded := false
	for _, e := range q.Run.Events {
		stepEnded = stepEnded || e.ID == "slurm-step-ended" || e.ID == "slurm-cancelled"
		if !e.Named() || e.Origin.Rank == nil {
			continue
		}
		code, ok := e.Facts["exit_code"]
		switch {
		case ok && code.Int > 0 && code.Int < 128 && !stepEnded, (e.ID == "mpi-exited" || e.ID == "mpi-ended-badly") && !q.someSuffered(nil):
			byItself[*e.Origin.Rank] = true
		case ok, q.roles[e] == incident.RoleCollateral:
			ended[*e.Origin.Rank] = true
		}
	}
	if rank, ok := only(byItself); ok {
		q.nameRank(f, rank, "the only worker that the launcher saw fail by itself")
		return
	}
	if len(byItself) > 0 {
		return
	}
	if rank, ok := q.allBut(ended); ok {
		q.nameRank(f, rank, "the only worker that the launcher did not end")
		return
	}
	// A process that crashes in native code prints without a prefix; if all other
	// ranks tell of a lost peer, it is the one that does not.
	victims := map[int]bool{}
	for _, e := range q.Run.Events {
		if q.roles[e] == incident.RoleCollateral && e.Origin.Rank != nil {
			victims[*e.Origin.Rank] = true
		}
	}
	if rank, ok := q.allBut(victims); ok && f.event.Traceback == nil {
		q.nameRank(f, rank, "the only rank that does not tell of a lost peer")
	}
}

// aborted returns the one rank that called MPI_Abort, where no process tells that it
// suffered: a victim aborts as well when it raises what it suffered from.
//
//	MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD
func (q *Inquiry) aborted() *int {
	ranks := map[int]bool{}
	for _, e := range q.Run.Events {
		switch {
		case e.ID == "mpi-abort" && e.Origin.Rank != nil:
			ranks[*e.Origin.Rank] = true
		case q.roles[e] == incident.RoleCollateral && !e.Named():
			return nil
		}
	}
	if rank, ok := only(ranks); ok {
		return &rank
	}
	return nil
}

func (q *Inquiry) nameRank(f *finding, rank int, from string) {
	f.origin.Rank, f.origin.RankFrom = &rank, from
	q.because(ruleLauncher, where(f.event), "%s carries no rank; rank %d is %s", place(f.event), rank, from)
}

// allBut returns the one rank of the job that is not in the set, if the set is not
// empty and one is left.
func (q *Inquiry) allBut(set map[int]bool) (int, bool) {
	if len(set) == 0 {
		return 0, false
	}
	all := q.Run.Everyone()
	if all == nil {
		all = q.Run.Ranks
		if n := len(all); n == 0 || all[n-1] != n-1 {
			return 0, false // some ranks are not in this log
		}
	}
	left := map[int]bool{}
	for _, rank := range all {
		if !set[rank] {
			left[rank] = true
		}
	}
	return only(left)
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

// launcherClaim compares torchrun's "root cause" with the finding: it is the
// exit that one agent saw first, to the second, and a claim to check.
func (q *Inquiry) launcherClaim(f *finding) []incident.Evidence {
	if f.origin.Rank == nil {
		return nil
	}
	claimed := false
	for _, e := range q.Run.Events {
		if e.ID == "torchrun-root-cause" {
			claimed = true
			continue
		}
		rank, ok := e.Facts["rank"]
		if !claimed || !ok || !e.Named() {
			continue
		}
		if int(rank.Int) == *f.origin.Rank {
			q.because(ruleTable, where(e), "the launcher's table blames rank %d too", rank.Int)
			return []incident.Evidence{{Location: e.At.Location(), For: incident.Supports, Says: fmt.Sprintf("the launcher's table blames rank %d too", rank.Int)}}
		}
		q.because(ruleTable, where(e), "the launcher's table blames rank %d: that is the exit that it saw first, to the second, and not who failed first", rank.Int)
		return []incident.Evidence{{Location: e.At.Location(), For: incident.Neutral, Says: fmt.Sprintf("the launcher's table blames rank %d, whose exit it saw first; that is not who failed first: see %s", rank.Int, place(f.event))}}
	}
	return nil
}
