package timeline

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// dims are the coordinates in a worker's label, -1 where it has none.
type dims struct{ dp, pp, tp int }

var dimension = regexp.MustCompile(`(DP|PP|TP)(\d+)`)

// isWorker reports whether a process name is one of a job's parallel workers.
func isWorker(name string) bool {
	return dimension.MatchString(name) || strings.HasPrefix(name, "VllmWorker") || strings.HasPrefix(name, "RayWorker") || strings.Contains(name, "ActorModel") || strings.Contains(name, "WorkerDict")
}

// oneOfSeveral reports whether a process name says that there are others like it: a
// coordinate above 0, or a worker of Ray or of vLLM's pool, which are numbered
// elsewhere.
func oneOfSeveral(name string) bool {
	if strings.HasPrefix(name, "EngineCore") || strings.HasPrefix(name, "APIServer") {
		return false
	}
	if d, ok := labelDims(name); ok {
		return max(d.dp, d.pp, d.tp) > 0
	}
	return strings.HasPrefix(name, "VllmWorker") || strings.HasPrefix(name, "Ray") || strings.Contains(name, "WorkerDict") || strings.Contains(name, "RayActor")
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
// stage * TP size + TP. Data-parallel labels do not tell where each engine numbers
// its own workers; with SGLang's DP attention the TP numbers go on over all of them.
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
	if tpSize == 0 && stages {
		tpSize = grid(labels)
	}
	goOn := tpGoesOn(labels)
	for name, d := range labels {
		m.workers[name] = nil
		switch {
		case (d.dp > 0 || len(data) > 1) && !goOn:
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

// learnEngine takes the numbers by which a vLLM engine calls its workers for ranks,
// where the labels are those of all workers of one engine, on one host.
//
//	(EngineCore_DP0 pid=198) ERROR ... Worker proc VllmWorker-2 died unexpectedly, shutting down executor.
func (m *maps) learnEngine(events []*message.Event) {
	ranks := map[int]bool{}
	for name, rank := range m.workers {
		if d, _ := labelDims(name); rank == nil || d.dp > 0 {
			return
		}
		ranks[*rank] = true
	}
	for rank := range len(ranks) {
		if !ranks[rank] {
			return
		}
	}
	if len(ranks) > hostCards || len(m.byHost) > 1 {
		return
	}
	for _, e := range events {
		n := number(e, "local_rank")
		if n == nil || !strings.HasPrefix(e.ID, "vllm-worker-") || !ranks[*n] {
			continue
		}
		if _, known := m.byLocal[local{"", *n}]; !known {
			m.byLocal[local{"", *n}] = *n
		}
	}
}

// grid returns the TP size if the labels seen are all those of a whole grid of
// stages and tensor-parallel ranks, else 0: a log may show some workers only.
func grid(labels map[string]dims) int {
	stages, size := 0, 0
	seen := map[dims]bool{}
	for _, d := range labels {
		if d.dp > 0 || d.pp < 0 || d.tp < 0 {
			return 0
		}
		stages, size = max(stages, d.pp+1), max(size, d.tp+1)
		seen[dims{-1, d.pp, d.tp}] = true
	}
	if size < 2 || len(seen) != stages*size {
		return 0
	}
	return size
}

// tpGoesOn reports whether TP numbers go on over the data-parallel groups: several
// groups, and no number in two of them.
func tpGoesOn(labels map[string]dims) bool {
	group := map[int]int{}
	groups := map[int]bool{}
	for _, d := range labels {
		if d.dp < 0 {
			continue
		}
		if d.tp < 0 {
			return false
		}
		if old, ok := group[d.tp]; ok && old != d.dp {
			return false
		}
		group[d.tp] = d.dp
		groups[d.dp] = true
	}
	return len(groups) > 1
}
