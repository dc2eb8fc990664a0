package timeline

import (
	"github.com/graphtrap/graphtrap/analyzer/message"
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
