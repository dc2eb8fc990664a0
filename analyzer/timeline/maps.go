package timeline

import (
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
	// byDevice and byBus say which rank uses a card.
	byDevice map[device]int
	byBus    map[bus]int
	// sole are the processes of pids, nil where several have one.
	sole map[int]*process
	// byHost is a host's rank, -1 where it has several.
	byHost map[string]int
	// named are the names that processes give themselves, by pid; "" if two differ.
	named map[process]string
	// shared are ranks that two processes of one log claim: the job has several
	// worlds (trainers and inference engines), and a rank alone names nobody.
	shared map[int]bool
	// workers are the labels of parallel workers and the ranks they stand for.
	workers map[string]*int
	world   int
	// labelled: the scheduler's task numbers are ranks: the lines carry them, or
	// there are as many of both.
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
	m := &maps{
		labelled: labelled || oneRankEach(events), byPID: map[process]int{}, pidFrom: map[process]string{}, byLocal: map[local]int{},
		byDevice: map[device]int{}, byBus: map[bus]int{}, byHost: map[string]int{}, sole: map[int]*process{}, named: map[process]string{}, workers: map[string]*int{},
	}
	m.shared = sharedRanks(printers)
	claimedTwice(m.shared, events, actorSpans(printers))
	m.learnNames(printers)
	m.learnDevices(events)
	m.learnFromEvents(events)
	m.learnPrefixed(printers)
	m.learnHosts(events)
	m.learnFailed(events)
	m.learnAgents(events)
	m.learnLocals(printers)
	m.learnSpawn(printers, events)
	m.learnStarted(events)
	m.learnWorkers(printers, events)
	m.learnEngine(events)
	m.learnSole()
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
		ray := strings.Contains(o.Process, "Ray") || strings.Contains(o.Process, "Actor") || ownPrefix(o) && rayActor(o.Process)
		if o.Rank == nil || o.PID == nil || !ray {
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
	if rank, ok := m.onDevice(o); ok && m.byPID[process{o.Host, *o.PID}] < 0 {
		return set(rank, "NCCL's init line for its device")
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
	if rank, ok := m.soleProcess(o); ok {
		return set(rank, "the only process with this pid")
	}
	if rank := m.workers[o.Process]; rank != nil {
		return set(*rank, "worker's label")
	}
	if rank, ok := m.onlyOf(o.Host); ok {
		return set(rank, "the only rank of its host")
	}
	return o
}

// soleProcess returns the rank of a pid that one process of the job has, where the
// line does not tell the host: the kernel's reports, and Ray's labels of processes
// on its head node. A line with a label must have that of the process.
func (m *maps) soleProcess(o incident.Origin) (int, bool) {
	if o.PID == nil || o.Host != "" {
		return 0, false
	}
	p, ok := m.sole[*o.PID]
	if !ok || p == nil || o.Process != "" && m.named[*p] != o.Process {
		return 0, false
	}
	rank := m.byPID[*p]
	return rank, rank >= 0
}

// learnSole notes the process of each pid that one process of the job has; nil if
// several have it.
func (m *maps) learnSole() {
	for p := range m.byPID {
		if _, seen := m.sole[p.pid]; seen {
			m.sole[p.pid] = nil
			continue
		}
		m.sole[p.pid] = &p
	}
}

// learnNames notes what processes call themselves, so that a line that only
// gives a pid means the same process.
func (m *maps) learnNames(printers []scan.Seen) {
	for _, p := range printers {
		if p.Origin.PID == nil || p.Origin.Process == "" {
			continue
		}
		at := process{p.Origin.Host, *p.Origin.PID}
		if old, ok := m.named[at]; ok && old != p.Origin.Process {
			m.named[at] = ""
			continue
		}
		m.named[at] = p.Origin.Process
	}
}

// withName completes an origin that a line tells of by pid:
//
//	ray.exceptions.RayTaskError(RuntimeError): ray::Worker.run() (pid=4242, ip=10.0.0.4, actor_id=abc)
//
// Ray leaves the address out of the labels of processes on its head node.
func (m *maps) withName(o incident.Origin) incident.Origin {
	if o.PID == nil || o.Process != "" {
		return o
	}
	if name := m.named[process{o.Host, *o.PID}]; name != "" {
		o.Process = name
	} else if name := m.named[process{"", *o.PID}]; name != "" {
		o.Process, o.Host = name, ""
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
		if o.Host == "" && e.Outside() {
			o.Host = e.At.Origin.Host // the kernel log's own host
		}
		if own := e.At.Origin.Host; o.Host == "" && own != "" && o.PID != nil && o.Rank == nil {
			if _, ok := m.byPID[process{own, *o.PID}]; ok {
				o.Host = own // an agent tells of the workers of its host
			}
		}
		if pci, ok := e.Facts["pci"]; ok {
			if rank, ok := m.card(e.At.Origin.Host, pci.Text); ok {
				o.Rank, o.RankFrom = &rank, "PCI address in NCCL's init line"
			}
		}
		if o.Known() {
			return m.complete(m.withName(o))
		}
	}
	switch {
	case e.Relayed:
		return m.complete(m.withName(e.At.Origin))
	case e.Outside(): // it is about a process, and not by it
		return m.resolve(e.At.Origin)
	}
	return m.complete(e.At.Origin)
}

// complete resolves an origin; the only process of a run is rank 0.
func (m *maps) complete(o incident.Origin) incident.Origin {
	o = m.resolve(o)
	if o.Rank == nil && m.alone && ownName(o.Process) {
		zero := 0
		o.Rank, o.RankFrom = &zero, "the only process"
	}
	return o
}

// ownName reports whether a process may be the only one of a run: it has no name, or
// that of an engine or of a first worker. Ray names every process that it starts.
func ownName(name string) bool {
	if name == "" || name == "EngineCore" || name == "EngineCore_0" || name == "EngineCore_DP0" || name == "MainProcess" {
		return true
	}
	d, ok := labelDims(name)
	return ok && max(d.dp, d.pp, d.tp) == 0
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
