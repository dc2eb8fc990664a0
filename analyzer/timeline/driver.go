package timeline

import (
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// helper is how vLLM V0 labels the workers beside its driver, which is rank 0 and has
// no label.
const helper = "VllmWorkerProcess"

// helpers returns the pids of a driver's helpers and the line that tells how many
// processes the engine has, if all of them print, on the driver's host.
//
//	INFO ... Initializing an LLM engine (v0.6.6.post1) with config: ... tensor_parallel_size=2, pipeline_parallel_size=1, ...
//	(VllmWorkerProcess pid=40412) INFO 01-17 22:03:14 multiproc_worker_utils.py:222] Worker ready; awaiting tasks
func helpers(events []*message.Event, printers []scan.Seen) (map[int]bool, *incident.Location) {
	pids := map[int]bool{}
	host, first := "", true
	for _, p := range printers {
		o := p.Origin
		if o.PID == nil || !strings.HasPrefix(o.Process, helper) {
			continue
		}
		if !first && o.Host != host {
			return nil, nil
		}
		host, first, pids[*o.PID] = o.Host, false, true
	}
	size := 0
	var from *incident.Location
	for _, e := range events {
		tp, stages := number(e, "tp_size"), number(e, "stages")
		if tp == nil || stages == nil {
			continue
		}
		if from != nil && size != *tp**stages {
			return nil, nil // two engines
		}
		at := e.At.Location()
		size, from = *tp**stages, &at
	}
	if len(pids) == 0 || size != len(pids)+1 {
		return nil, nil
	}
	return pids, from
}

// learnDriver gives the only helper of a driver rank 1, which is left for it, and rank
// 0 to the one other process that NCCL speaks for.
//
//	gn17:214410:214410 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found
func (m *maps) learnDriver(pids map[int]bool, printers []scan.Seen) {
	if len(pids) == 1 {
		one := 1
		m.workers[helper] = &one
	}
	others := map[process]bool{}
	for _, p := range printers {
		if o := p.Origin; o.PID != nil && o.Device != nil && !pids[*o.PID] {
			others[process{o.Host, *o.PID}] = true
		}
	}
	if len(others) != 1 {
		return
	}
	for driver := range others {
		if _, known := m.byPID[driver]; !known {
			m.link(driver, 0, "the engine's process without a worker's label")
		}
	}
}
