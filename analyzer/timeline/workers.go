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
