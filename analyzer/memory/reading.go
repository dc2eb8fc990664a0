package memory

import (
	"regexp"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Metric names one figure of a memory report.
type Metric string

// The metrics that a log can show. Available memory falls where the others rise.
const (
	Reserved  Metric = "reserved"
	Allocated Metric = "allocated"
	Available Metric = "available"
)

// Reading is one memory figure that a line printed.
type Reading struct {
	At     incident.Location
	Stamp  line.Stamp
	Origin incident.Origin
	Metric Metric
	Size   incident.Size
	// Captured is true if the line says that a graph was captured, or counts graphs.
	Captured bool
}

// Anchors are the texts that lines with memory figures are found by.
func Anchors() []string {
	return []string{"reserved", "memory_allocated", "avail mem", "avail_mem", "mem-reserved-gigabytes"}
}

var (
	// [graphs] captured signature (4, 3, 320, 320) in 0.76s | reserved 7.8 GiB | allocated 3.5 GiB | graphs held 2
	// graph entry 12/96 layer=06 kind=attn reserved= 36.80 GiB allocated= 31.16 GiB
	// step=12 cuda alloc=52.31 GiB reserved=62.50 GiB graphs=6
	// step 64 seq_len= 704 reserved=42110 MB
	// torch.cuda.memory_reserved()=19.9 GiB
	// create cuda graphs | mem: alloc 1.2 gb, res 3.4 gb
	labelled = regexp.MustCompile(`(?i)\b(max[_ ])?(?:memory[_ ])?(reserved|res|allocated|alloc)(?:\(\))?\s*[:=]?\s*(-?\d+(?:\.\d+)?) ?([KMGT]i?B|bytes)\b`)
	// [Rank 0] (after 1 iterations) memory (MB) | allocated: 41205.87 | max allocated: 55873.02 | reserved: 57344.0 | max reserved: 57344.0
	megatron     = regexp.MustCompile(`memory \((MB|GB)\) \|`)
	megatronPart = regexp.MustCompile(`\| (?:mem-)?(allocated|reserved)(?:-gigabytes)?: (\d+(?:\.\d+)?)`)
	// Capturing batches (bs=48 avail_mem=40.33 GB):  17%|...
	// Capture cuda graph begin. This can take up to several minutes. avail mem=3.50 GB
	available = regexp.MustCompile(`avail[_ ]mem=(-?\d+(?:\.\d+)?) ?(GB)`)
	graphWord = regexp.MustCompile(`[Cc]aptur|graph entry|graphs(?: held)?[ =]\d`)
)

// Read returns the memory figures of a line, at most one of each metric.
func Read(p line.Placed) []Reading {
	text := p.Text
	if len(text) > 2000 { // a configuration dump
		return nil
	}
	captured := (strings.Contains(text, "aptur") || strings.Contains(text, "graph")) && graphWord.MatchString(text)
	at := p.Location()
	var out []Reading
	add := func(metric Metric, number string, unit float64) {
		for _, r := range out {
			if r.Metric == metric {
				return
			}
		}
		if size, ok := Scale(number, unit); ok {
			out = append(out, Reading{At: at, Stamp: p.Stamp, Origin: p.Origin, Metric: metric, Size: size, Captured: captured})
		}
	}
	if m := megatron.FindStringSubmatch(text); m != nil {
		for _, part := range megatronPart.FindAllStringSubmatch(text, -1) {
			add(Metric(part[1]), part[2], units[strings.ToLower(m[1])])
		}
		return out
	}
	for _, m := range labelled.FindAllStringSubmatch(text, -1) {
		if m[1] != "" { // a peak, not a level
			continue
		}
		metric := Reserved
		if m[2][0] == 'a' || m[2][0] == 'A' {
			metric = Allocated
		}
		add(metric, m[3], units[strings.ToLower(m[4])])
	}
	if m := available.FindStringSubmatch(text); m != nil {
		add(Available, m[1], GiB)
	}
	return out
}
