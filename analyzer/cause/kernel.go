package cause

import (
	"strings"
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
)

// The kernel's log is the host's, not the job's: it tells of other users' processes
// and of other days too.

func fromKernel(e *message.Event) bool { return strings.HasPrefix(e.ID, "kernel-") }

// strangers gives reports of the kernel that are not about this run no part in it:
// those of long before, and those of processes outside the job where others are
// about one of its ranks. A report about a card without a rank is given to the only
// rank that has a device fault.
func strangers(run *timeline.Run, roles map[*message.Event]incident.Role) {
	nameKilled(run)
	var records []*message.Event
	ours := false
	begin := runBegin(run)
	for _, e := range run.Events {
		if !fromKernel(e) || roles[e] == incident.RoleContext {
			continue
		}
		if begin != nil && e.Time != nil && timeline.Before(e.Time, begin, sameRun) {
			roles[e] = incident.RoleContext
			continue
		}
		if roles[e] == incident.RoleInitiator {
			records = append(records, e)
		}
		ours = ours || e.Origin.Rank != nil
	}
	if len(records) == 0 || !run.Several {
		return
	}
	if !ours {
		faulty, killed := onlyFault(run, roles), onlyKilled(run)
		for _, e := range records {
			_, card := e.Facts["pci"]
			switch {
			case card && faulty != nil:
				e.Origin = incident.Origin{Rank: faulty.Rank, Host: faulty.Host, RankFrom: "the only rank with a device fault"}
			case e.ID == "kernel-oom-kill" && killed != nil && len(records) == 1:
				e.Origin = incident.Origin{Rank: killed.Rank, Host: killed.Host, RankFrom: "the only rank that was killed"}
			}
		}
		return
	}
	for _, e := range records {
		if e.Origin.Rank == nil && e.Named() {
			roles[e] = incident.RoleContext
		}
	}
}

// sameRun is how long before the first time in the log a report of the kernel may
// still belong to the run: a log may start late, and a kernel's clock may be in
// another zone.
const sameRun = 26 * time.Hour

// runBegin is the first time that a process of the run printed, as far as its events
// tell; what it waited for began earlier by as long as it waited.
func runBegin(run *timeline.Run) *incident.Time {
	var first *incident.Time
	for _, e := range run.Events {
		if fromKernel(e) || e.Time == nil || e.Time.At == nil {
			continue
		}
		if first == nil || timeline.Before(e.Time, first, 0) {
			first = e.Time
		}
	}
	return first
}

// onlyFault returns the origin of the only rank that prints an asynchronous device
// fault.
func onlyFault(run *timeline.Run, roles map[*message.Event]incident.Role) *incident.Origin {
	var found *incident.Origin
	for _, e := range run.Events {
		if !e.Async() || fromKernel(e) || e.Origin.Rank == nil || roles[e] == incident.RoleContext {
			continue
		}
		if found != nil && *found.Rank != *e.Origin.Rank {
			return nil
		}
		o := e.Origin
		found = &o
	}
	return found
}

// nameKilled gives a report of a container or a step that ran out of memory, which
// names no process, to the only rank that was killed.
//
//	      Reason:       OOMKilled
//	slurmstepd: error: Detected 1 oom_kill event in StepId=90211.0.
func nameKilled(run *timeline.Run) {
	killed := onlyKilled(run)
	for _, e := range run.Events {
		if killed != nil && (e.ID == "kubernetes-oom-killed" || e.ID == "slurm-oom-kill") && e.Origin.Rank == nil {
			e.Origin.Rank, e.Origin.RankFrom = killed.Rank, "the only rank that was killed"
		}
	}
}

// onlyKilled returns the origin of the only rank that its launcher saw end by
// SIGKILL, as the kernel sends it.
func onlyKilled(run *timeline.Run) *incident.Origin {
	var found *incident.Origin
	for _, e := range run.Events {
		code, signal := e.Facts["exit_code"], e.Facts["signal"]
		killed := code.Int == -9 || code.Int == 137 || code.Text == "-9" || code.Text == "137" || signal.Int == 9 || signal.Text == "SIGKILL"
		if !e.Named() || !killed || e.Origin.Rank == nil || e.Role != incident.RoleInitiator {
			continue
		}
		if found != nil && *found.Rank != *e.Origin.Rank {
			return nil
		}
		o := e.Origin
		found = &o
	}
	return found
}
