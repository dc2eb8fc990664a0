package memory

import (
	"regexp"
	"strings"
)

// What Megatron-LM and Megatron Bridge print. Their MB and GB, and the lower-case
// gb and mb of their graph code, count powers of 1024.

// megatronSize is a size as Megatron's own function prints it.
const megatronSize = `(-?\d+(?:\.\d+)?) (tb|gb|mb|kb|bytes)\b`

var (
	// create cuda graphs | mem: alloc 1.2 gb, res 3.4 gb:  50%|#####     | 12/24 [00:01<00:01, 11.9it/s]
	megatronSoFar = regexp.MustCompile(`create cuda graphs \| mem: alloc ` + megatronSize + `, res ` + megatronSize)

	//   [graph 3/12] [16] | pool reserved=1.2 gb (Δiter=10.0 mb) pool allocated=0.4 gb (Δiter=2.0 mb)
	megatronOne = regexp.MustCompile(`\| pool reserved=` + megatronSize + ` \(`)
	// > built cuda graph(s) in 20.01 sec. Mempool: reserved 30.5 gb, allocated 10.2 gb. Process-wide delta: allocated 10.2 gb, reserved 30.5 gb.
	// > built 96 cuda graph(s) in 20.01 sec, with total memory usage: allocated 10.2 gb, reserved 30.5 gb.
	megatronBuilt   = regexp.MustCompile(`built (?:\d+ )?cuda graph\(s\) in `)
	megatronMempool = regexp.MustCompile(` Mempool: reserved ` + megatronSize)
)

// megatronNames are the levels in a report of one iteration.
//
//	[Rank 0] (after 1 iterations) memory (MB) | allocated: 41205.87 | max allocated: 55873.02 | reserved: 57344.0 | max reserved: 57344.0
//	[Rank 0] (after 10 iterations) memory (GB) | mem-allocated-gigabytes: 41.2 | mem-active-gigabytes: 41.3 | mem-reserved-gigabytes: 57.5
//	... | max reserved: 57344.0 | total device memory used: 61004.0
var megatronNames = map[string]Metric{
	"allocated": Allocated, "mem-allocated-gigabytes": Allocated,
	"reserved": Reserved, "mem-reserved-gigabytes": Reserved,
	"total device memory used": Used,
}

// megatronReport reads the report of one iteration.
func megatronReport(_ *Reader, f *figures) bool {
	_, report, ok := strings.Cut(f.text, "memory (")
	unit, levels, ended := strings.Cut(report, ") | ")
	if !ok || !ended || unit != "MB" && unit != "GB" {
		return false
	}
	for len(levels) > 0 {
		var level string
		level, levels, _ = strings.Cut(levels, " | ")
		name, number, _ := strings.Cut(level, ": ")
		if metric, ok := megatronNames[name]; ok {
			f.size(metric, strings.TrimRight(number, " "), unit)
		}
	}
	return true
}

// megatronGraphs reads the bar of a capture: the whole process, after each graph.
func megatronGraphs(_ *Reader, f *figures) bool {
	m := lastMatch(megatronSoFar, f.text) // a bar that was not redrawn holds several states
	if m == nil {
		return false
	}
	f.shared = true
	f.size(Allocated, m[1], m[2])
	f.size(Reserved, m[3], m[4])
	return true
}

// megatronPool reads figures of the graph pool alone. What the building of all
// graphs took is a difference and no level: it is left out.
func megatronPool(_ *Reader, f *figures) bool {
	if m := megatronOne.FindStringSubmatch(f.text); m != nil {
		f.shared = true
		f.size(PrivatePools, m[1], m[2])
		return true
	}
	if !megatronBuilt.MatchString(f.text) {
		return false
	}
	if m := megatronMempool.FindStringSubmatch(f.text); m != nil {
		f.shared = true
		f.size(PrivatePools, m[1], m[2])
	}
	return true
}

func lastMatch(shape *regexp.Regexp, text string) []string {
	all := shape.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}
