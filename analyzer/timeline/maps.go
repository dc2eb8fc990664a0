package timeline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// maps hold what the log says about who is who. Several lines may tell; the
// first in the order of resolve counts.
type maps struct {
	byPID   map[process]int // global rank
	pidFrom map[process]string
	byLocal map[local]int // global rank
	// shared are ranks that two processes of one log claim: the job has several
	// worlds (trainers and inference engines), and a rank alone names nobody.
	shared map[int]bool
	// workers are the labels of parallel workers and the ranks they stand for.
	workers map[string]*int
	world   int
	// labelled: the lines carry the scheduler's task numbers, which are ranks.
	labelled bool
	alone    bool // the run has one process
}

// local is a local rank on a host; the host is empty where lines do not name it.
type local struct {
	host string
	rank int
}

// process is a pid on a host; the host is empty where lines do not name it.
type process struct {
	host string
	pid  int
}

func newMaps(events []*message.Event, printers []scan.Seen, labelled bool) *maps {
	m := &maps{labelled: labelled, byPID: map[process]int{}, pidFrom: map[process]string{}, byLocal: map[local]int{}, workers: map[string]*int{}}
	m.shared = sharedRanks(printers)
	m.learnFromEvents(events)
	m.learnAgents(events)
	m.learnLocals(printers)
	m.learnWorkers(printers, events)
	return m
}

// sharedRanks finds ranks that processes with different names or pids claim.
// A process that was restarted claims its rank again, under the same name.
func sharedRanks(printers []scan.Seen) map[int]bool {
	type name struct {
		process string
		pid     int
	}
	claimed := map[int]map[name]bool{}
	for _, p := range printers {
		o := p.Origin
		if o.Rank == nil || o.PID == nil || !strings.Contains(o.Process, "Ray") && !strings.Contains(o.Process, "Actor") {
			continue
		}
		if claimed[*o.Rank] == nil {
			claimed[*o.Rank] = map[name]bool{}
		}
		claimed[*o.Rank][name{o.Process, *o.PID}] = true
	}
	shared := map[int]bool{}
	for rank, names := range claimed {
		shared[rank] = len(names) > 1
	}
	return shared
}

// learnFromEvents reads lines that state a mapping: torchrun's failure table
// (rank and pid on lines of their own), NCCL's init lines, launchers' exits.
func (m *maps) learnFromEvents(events []*message.Event) {
	var entry *message.Event // the table line with the rank, waiting for its pid
	largest := map[process]int{}
	for _, e := range events {
		if e.Message == nil || e.Message.About == "" {
			continue
		}
		rank, localRank, pid := number(e, "rank"), number(e, "local_rank"), number(e, "pid")
		if e.Message.About == "map" {
			if rank != nil && e.At.Origin.PID != nil {
				p := process{e.At.Origin.Host, *e.At.Origin.PID}
				// A process has a rank in each of its communicators: that of
				// the largest is the global one.
				if size := number(e, "nranks"); size != nil && *size != largest[p] {
					if *size < largest[p] {
						continue
					}
					largest[p] = *size
					delete(m.byPID, p)
				}
				m.link(p, *rank, "NCCL's init line")
			}
			continue
		}
		if rank != nil && localRank != nil {
			m.linkLocal(local{e.At.Origin.Host, *localRank}, *rank)
		}
		switch {
		case rank != nil && pid != nil:
			m.link(process{"", *pid}, *rank, "launcher's summary")
		case rank != nil:
			entry = e
		case pid != nil && entry != nil && e.At.Number-entry.At.Number <= 3 && e.At.File == entry.At.File:
			m.link(process{"", *pid}, *number(entry, "rank"), "failure table")
			entry = nil
		}
	}
}

func (m *maps) link(p process, rank int, from string) {
	if old, ok := m.byPID[p]; ok && old != rank {
		m.byPID[p] = -1 // the same pid on two hosts
		return
	}
	m.byPID[p], m.pidFrom[p] = rank, from
}

// linkLocal notes a pair; a local rank that stands for two global ones tells
// nothing, as two hosts have it.
func (m *maps) linkLocal(l local, rank int) {
	if old, ok := m.byLocal[l]; ok && old != rank {
		m.byLocal[l] = -1
		return
	}
	m.byLocal[l] = rank
}

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

// learnLocals reads global ranks behind local ones, as on lines with both
// prefixes: "[default3]:[rank11]: ...".
func (m *maps) learnLocals(printers []scan.Seen) {
	for _, p := range printers {
		if o := p.Origin; o.Rank != nil && o.LocalRank != nil {
			m.linkLocal(local{o.Host, *o.LocalRank}, *o.Rank)
		}
	}
	// The pairs known of a host may give its first rank, and so the others.
	for _, p := range printers {
		o := p.Origin
		if o.LocalRank == nil || o.Rank != nil {
			continue
		}
		if _, known := m.byLocal[local{o.Host, *o.LocalRank}]; known {
			continue
		}
		if base, ok := m.base(o.Host); ok {
			m.byLocal[local{o.Host, *o.LocalRank}] = base + *o.LocalRank
		}
	}
}

// base returns the first rank of a host, if all pairs known of it agree.
func (m *maps) base(host string) (int, bool) {
	base, found := 0, false
	for l, rank := range m.byLocal {
		if l.host != host {
			continue
		}
		if rank < 0 || found && base != rank-l.rank {
			return 0, false
		}
		base, found = rank-l.rank, true
	}
	return base, found && base >= 0
}

// host returns the ranks of the one host whose local ranks the log maps: a host
// with local rank 7 has the seven below it as well.
func (m *maps) host() []int {
	name, top := "", -1
	for l := range m.byLocal {
		if top >= 0 && l.host != name {
			return nil
		}
		name, top = l.host, max(top, l.rank)
	}
	base, ok := m.base(name)
	if !ok || top > 64 {
		return nil
	}
	var out []int
	for r := range top + 1 {
		out = append(out, base+r)
	}
	return out
}

// dims are the coordinates in a worker's label, -1 where it has none.
type dims struct{ dp, pp, tp int }

var dimension = regexp.MustCompile(`(DP|PP|TP)(\d+)`)

// isWorker reports whether a process name is one of a job's parallel workers.
func isWorker(name string) bool {
	return dimension.MatchString(name) || strings.HasPrefix(name, "VllmWorker") || strings.HasPrefix(name, "RayWorker") || strings.Contains(name, "ActorModel") || strings.Contains(name, "WorkerDict")
}

func labelDims(name string) (dims, bool) {
	d := dims{-1, -1, -1}
	for _, m := range dimension.FindAllStringSubmatch(name, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		switch m[1] {
		case "DP":
			d.dp = n
		case "PP":
			d.pp = n
		case "TP":
			d.tp = n
		}
	}
	return d, d != dims{-1, -1, -1}
}

// learnWorkers turns vLLM's and SGLang's labels into global ranks. With tensor
// parallelism alone the label is the rank; with pipeline stages the rank is
// stage * TP size + TP. Data-parallel labels do not tell: engines number their
// own workers.
func (m *maps) learnWorkers(printers []scan.Seen, events []*message.Event) {
	tpSize := 0
	for _, e := range events {
		if n := number(e, "tp_size"); n != nil {
			tpSize = max(tpSize, *n)
		}
	}
	labels := map[string]dims{}
	data := map[int]bool{}
	for _, p := range printers {
		d, ok := labelDims(p.Origin.Process)
		if !ok || strings.HasPrefix(p.Origin.Process, "EngineCore") || strings.HasPrefix(p.Origin.Process, "APIServer") {
			continue
		}
		labels[p.Origin.Process] = d
		data[d.dp] = true
	}
	stages := false
	for _, d := range labels {
		stages = stages || d.pp > 0
	}
	for name, d := range labels {
		m.workers[name] = nil
		switch {
		case d.dp > 0 || len(data) > 1:
		case d.pp < 0 || !stages:
			if d.tp >= 0 {
				m.workers[name] = &d.tp
			}
		case d.tp < 0:
			m.workers[name] = &d.pp
		case tpSize > 0:
			rank := d.pp*tpSize + d.tp
			m.workers[name] = &rank
		case d.pp == 0:
			m.workers[name] = &d.tp
		}
	}
}

// resolve completes an origin, in the order in which the mappings are trusted.
func (m *maps) resolve(o incident.Origin) incident.Origin {
	set := func(rank int, from string) incident.Origin {
		o.Rank, o.RankFrom = &rank, from
		return o
	}
	if o.Rank != nil {
		if m.shared[*o.Rank] {
			o.Rank, o.RankFrom = nil, ""
		}
		return o
	}
	if o.PID != nil {
		for _, p := range []process{{o.Host, *o.PID}, {"", *o.PID}} {
			if rank, ok := m.byPID[p]; ok && rank >= 0 {
				return set(rank, m.pidFrom[p])
			}
		}
	}
	if o.LocalRank != nil {
		for _, l := range []local{{o.Host, *o.LocalRank}, {"", *o.LocalRank}} {
			if rank, ok := m.byLocal[l]; ok && rank >= 0 {
				return set(rank, "local rank of the same host")
			}
		}
		if m.world == 0 || m.world <= 8 && *o.LocalRank < m.world {
			return o
		}
	}
	if rank := m.workers[o.Process]; rank != nil {
		return set(*rank, "worker's label")
	}
	return o
}

// namedBeside returns the process that another message in the same text names:
//
//	Failed to initialize executor on rank 6: CUDA error: uncorrectable NVLink error detected during the execution
func (m *maps) namedBeside(events []*message.Event, i int) *incident.Origin {
	e := events[i]
	if e.Message == nil || e.Message.About != "" {
		return nil
	}
	for _, step := range []int{-1, 1} {
		for k := i + step; k >= 0 && k < len(events); k += step {
			o := events[k]
			if o.At.File != e.At.File || o.At.Start != e.At.Start || o.At.Column(0) != e.At.Column(0) {
				break
			}
			if o.Named() {
				if owner := m.owner(o); owner.Known() {
					return &owner
				}
			}
		}
	}
	return nil
}

// owner returns the process that an event is about.
func (m *maps) owner(e *message.Event) incident.Origin {
	if e.Named() {
		if tasks := m.tasks(e); len(tasks) == 1 {
			return incident.Origin{Rank: &tasks[0], RankFrom: "scheduler's task"}
		}
		o := incident.Origin{Rank: number(e, "rank"), LocalRank: number(e, "local_rank"), PID: number(e, "pid")}
		if host, ok := e.Facts["host"]; ok {
			o.Host = host.Text
		}
		if o.Rank != nil {
			o.RankFrom = "launcher's summary"
		}
		if o.Known() {
			return m.resolve(o)
		}
	}
	return m.complete(e.At.Origin)
}

// complete resolves an origin; the only process of a run is rank 0.
func (m *maps) complete(o incident.Origin) incident.Origin {
	o = m.resolve(o)
	if o.Rank == nil && m.alone && !launcher(o.Process) {
		zero := 0
		o.Rank, o.RankFrom = &zero, "the only process"
	}
	return o
}

// launcher reports whether a process only starts and serves others.
func launcher(name string) bool {
	return strings.HasPrefix(name, "APIServer") || name == "raylet" || strings.HasPrefix(name, "EngineCore_DP") && name != "EngineCore_DP0"
}

func number(e *message.Event, name string) *int {
	f, ok := e.Facts[name]
	if !ok || f.Kind != incident.KindInt {
		return nil
	}
	n := int(f.Int)
	return &n
}

func itoa(n int) string { return strconv.Itoa(n) }

func pidText(o incident.Origin) string {
	if o.PID == nil {
		return ""
	}
	return itoa(*o.PID)
}
