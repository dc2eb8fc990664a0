package timeline

import (
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

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
			if rank != nil {
				m.linkHost(e.At.Origin.Host, *rank)
			}
			if rank != nil && localRank != nil {
				m.linkLocal(local{e.At.Origin.Host, *localRank}, *rank)
			}
			if rank != nil && e.At.Origin.PID != nil && !m.shared[*rank] {
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
			p := process{pid: *pid}
			if host, ok := e.Facts["host"]; ok {
				p.host = host.Text
			}
			m.link(p, *rank, "launcher's summary")
		case rank != nil:
			entry = e
		case pid != nil && entry != nil && e.At.Number-entry.At.Number <= 3 && e.At.File == entry.At.File:
			m.link(process{"", *pid}, *number(entry, "rank"), "failure table")
			entry = nil
		}
	}
}

// learnPrefixed gives a process the rank that stands in front of some of its lines, so
// that it is the rank of the others as well.
//
//	(RayTrainWorker pid=4410, ip=10.2.0.9) torch.AcceleratorError: CUDA error: an illegal memory access was encountered
//	(RayTrainWorker pid=4410, ip=10.2.0.9) [rank2]:[E225 17:58:31.660214901 ProcessGroupNCCL.cpp:2068] ...
func (m *maps) learnPrefixed(printers []scan.Seen) {
	found := map[process]int{}
	for _, p := range printers {
		o := p.Origin
		if o.PID == nil || o.Process == "" || !ownPrefix(o) || m.shared[*o.Rank] {
			continue
		}
		at := process{o.Host, *o.PID}
		if rank, ok := found[at]; ok && rank != *o.Rank {
			found[at] = -1
			continue
		}
		found[at] = *o.Rank
	}
	for at, rank := range found {
		if _, known := m.byPID[at]; !known && rank >= 0 {
			m.link(at, rank, "prefix of other lines of the process")
		}
	}
}

// ownPrefix reports whether PyTorch or the process's label told the rank. A logger's
// text may be about another one: Ray Train's controller prints "[Rank 2]" above the
// traceback of a worker.
func ownPrefix(o incident.Origin) bool {
	return o.Rank != nil && (o.RankFrom == "outer prefix" || o.RankFrom == "worker's label")
}

// learnStarted gives a pid the rank of the local rank that it was started as, for the
// lines that name the pid alone.
//
//	[launch.py:253:main] process 4242 spawned with command: ['/usr/bin/python3', '-u', 'train.py', '--local_rank=3']
//	[launch.py:319:sigkill_handler] Killing subprocess 4242
func (m *maps) learnStarted(events []*message.Event) {
	for _, e := range events {
		localRank, pid := number(e, "local_rank"), number(e, "pid")
		if !e.Named() || localRank == nil || pid == nil || number(e, "rank") != nil {
			continue
		}
		host := e.At.Origin.Host
		if _, known := m.byPID[process{"", *pid}]; known {
			continue
		}
		if rank, ok := m.byLocal[local{host, *localRank}]; ok && rank >= 0 {
			m.link(process{host, *pid}, rank, "local rank that it was started as")
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
