package timeline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// learnAgents gives ranks to the workers that a torchrun agent stopped: it
// starts them one after the other, so that their pids ascend with their local
// ranks. That is believed only if a worker whose rank is known fits in.
//
//	W1220 03:44:31 1201 .../api.py:900] Sending process 1287 closing signal SIGTERM
//	E1220 03:44:33 1201 .../api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 1288) of binary: ...
func (m *maps) learnAgents(events []*message.Event) {
	type agent struct {
		pids  []int
		local map[int]int // local rank of a pid
	}
	agents := map[process]*agent{}
	for _, e := range events {
		pid := number(e, "pid")
		if pid == nil || !e.Named() || number(e, "rank") != nil {
			continue
		}
		key := process{e.At.Origin.Host, -1}
		if e.At.Origin.PID != nil {
			key.pid = *e.At.Origin.PID
		}
		a := agents[key]
		if a == nil {
			a = &agent{local: map[int]int{}}
			agents[key] = a
		}
		a.pids = append(a.pids, *pid)
		if local := number(e, "local_rank"); local != nil {
			a.local[*pid] = *local
		}
	}
	for _, a := range agents {
		slices.Sort(a.pids)
		a.pids = slices.Compact(a.pids)
	}
	found := map[process][]int{} // ranks, added when all agents were looked at
	for key, a := range agents {
		var others [][]int
		for k, other := range agents {
			if k != key {
				others = append(others, other.pids)
			}
		}
		pids := m.withTable(a.pids, others)
		if len(pids) > 64 || pids[len(pids)-1]-pids[0] > 64*len(pids) {
			continue
		}
		base, ok := 0, false
		for i, pid := range pids {
			local, known := a.local[pid]
			rank, ranked := m.byPID[process{"", pid}]
			if known && local != i {
				ok = false
				break
			}
			if ranked && rank >= 0 {
				if ok && base != rank-i {
					ok = false
					break
				}
				base, ok = rank-i, true
			}
		}
		if !ok || base < 0 {
			continue
		}
		for i, pid := range pids {
			if _, ranked := m.byPID[process{"", pid}]; !ranked {
				found[process{"", pid}] = append(found[process{"", pid}], base+i)
			}
		}
	}
	for p, ranks := range found {
		for _, rank := range ranks {
			m.link(p, rank, "order of the agent's workers")
		}
	}
	ranks := hostRanksOf(events)
	for key, a := range agents {
		if own := ranks[key.host]; key.host != "" && len(own) == len(a.pids) {
			for i, pid := range a.pids {
				m.link(process{key.host, pid}, own[i], "order of the agent's workers")
			}
		}
	}
}

// hostRanksOf returns the ranks that the agent of each host got for its workers, in
// their order, where it got them once: after a restart there are others.
//
//	pt96-worker-7 trainer   global_ranks=[56, 57, 58, 59, 60, 61, 62, 63]
func hostRanksOf(events []*message.Event) map[string][]int {
	ranks := map[string][]int{}
	for _, e := range events {
		text, ok := e.Facts["global_ranks"]
		if !ok || e.ID != "torchrun-global-ranks" {
			continue
		}
		host := e.At.Origin.Host
		if _, again := ranks[host]; again {
			ranks[host] = nil
			continue
		}
		for _, number := range strings.Split(text.Text, ",") {
			rank, err := strconv.Atoi(strings.TrimSpace(number))
			if err != nil {
				break
			}
			ranks[host] = append(ranks[host], rank)
		}
	}
	return ranks
}

// withTable adds the pids of the failure table that lie among, or next to, the
// pids that an agent named: they are its workers as well, unless they may as
// well be another agent's.
func (m *maps) withTable(own []int, others [][]int) []int {
	const near = 16
	reaches := func(pids []int, pid, far int) bool { return pid >= pids[0]-far && pid <= pids[len(pids)-1]+far }
	pids := slices.Clone(own)
	for p, rank := range m.byPID {
		if p.host != "" || rank < 0 || !reaches(own, p.pid, near) {
			continue
		}
		disputed := slices.ContainsFunc(others, func(other []int) bool { return reaches(other, p.pid, near) })
		if !disputed || reaches(own, p.pid, 0) {
			pids = append(pids, p.pid)
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// learnFailed joins the only worker that an agent saw fail by itself with the
// only rank that prints a failure of its own, where the log shows one agent.
//
//	[rank1]: RuntimeError: ...
//	E1123 08:14:47.113000 12 .../api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 42) of binary: /opt/conda/bin/python3
func (m *maps) learnFailed(events []*message.Event) {
	agents, ranks := map[process]bool{}, map[int]bool{}
	var failed *message.Event
	for _, e := range events {
		switch code, pid := number(e, "exit_code"), number(e, "pid"); {
		case e.Named() && pid != nil && number(e, "rank") == nil:
			agent := process{host: e.At.Origin.Host}
			if e.At.Origin.PID != nil {
				agent.pid = *e.At.Origin.PID
			}
			agents[agent] = true
			if code == nil || *code <= 0 || *code >= 128 || number(e, "local_rank") == nil {
				continue
			}
			if failed != nil && *number(failed, "pid") != *pid {
				return
			}
			failed = e
		case e.Role == incident.RoleInitiator && !e.Named() && !e.Weak() && e.At.Origin.Rank != nil:
			ranks[*e.At.Origin.Rank] = true
		}
	}
	if len(agents) != 1 || len(ranks) != 1 || failed == nil {
		return
	}
	for rank := range ranks {
		m.linkLocal(local{failed.At.Origin.Host, *number(failed, "local_rank")}, rank)
		m.link(process{"", *number(failed, "pid")}, rank, "the only worker that failed by itself")
	}
}
