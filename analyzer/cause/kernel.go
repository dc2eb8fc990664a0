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
		if killed == nil && len(records) == 1 {
			killed = foundDead(run, records[0])
		}
		for _, e := range records {
			_, card := e.Facts["pci"]
			switch {
			case card && faulty != nil:
				e.Origin = incident.Origin{Rank: faulty.Rank, Host: faulty.Host, RankFrom: "the only rank with a device fault"}
			case e.ID == "kernel-oom-kill" && killed != nil && len(records) == 1:
				e.Origin = incident.Origin{Rank: killed.Rank, Host: killed.Host, RankFrom: killed.RankFrom}
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
			e.Origin.Rank, e.Origin.RankFrom = killed.Rank, killed.RankFrom
		}
	}
}

// workerDied is what an engine says of the first worker that it finds dead.
const workerDied = "vllm-worker-died"

// foundDead returns the origin of the only worker that its engine found dead within
// moments of the kernel's report, and not how it ended. Those that the engine ends
// afterwards are not told so.
//
//	[Wed Nov 12 08:58:40 2025] Memory cgroup out of memory: Killed process 1190413 (VLLM::Worker_TP) ...
//	(EngineCore_DP0 pid=198) ERROR 11-12 08:58:41 [multiproc_executor.py:154] Worker proc VllmWorker-2 died unexpectedly, shutting down executor.
func foundDead(run *timeline.Run, report *message.Event) *incident.Origin {
	const moments = 15 * time.Second // an engine looks every few seconds
	var found *incident.Origin
	for _, e := range run.Events {
		if e.ID != workerDied || e.Origin.Rank == nil {
			continue
		}
		if _, told := e.Facts["exit_code"]; told || found != nil {
			return nil
		}
		if timeline.Before(e.Time, report.Time, moments) || timeline.Before(report.Time, e.Time, moments) {
			return nil
		}
		o := e.Origin
		o.RankFrom = "the only worker that its engine found dead"
		found = &o
	}
	return found
}

// onlyKilled returns the origin of the only rank that its launcher saw end by
// SIGKILL, as the kernel sends it.
func onlyKilled(run *timeline.Run) *incident.Origin {
	var found *incident.Origin
	for _, e := range run.Events {
		if !e.Named() || !killed(e) || e.Origin.Rank == nil || e.Role != incident.RoleInitiator {
			continue
		}
		if found != nil && *found.Rank != *e.Origin.Rank {
			return nil
		}
		o := e.Origin
		o.RankFrom = "the only rank that was killed"
		found = &o
	}
	return found
}
