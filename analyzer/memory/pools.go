package memory

import (
	"regexp"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// A pool's id with what it reserves, as the reports print that graphtrap itself asks
// for. (0, 0) is the default pool; the others are those of graphs.
//
//	pool (0, 1): reserved 130 MiB, live 0 MiB, idle 130 MiB, 3 segments
//	[mem] segments by pool: (0, 0) reserved 21.04 GiB live 20.09 GiB; (0, 1) reserved 12.75 GiB live 0.06 GiB
//	pools reserved {(0, 0): 22590521344, (0, 1): 13690208256}
var poolSize = regexp.MustCompile(`\((\d{1,9}), ?(\d{1,9})\):? (?:reserved[:=]? ?)?(` + decimal + `)(?: ?(` + unitName + `)\b)?`)

// poolMarks stand in lines that list pools.
var poolMarks = []string{") reserved ", "): reserved ", "reserved {(", "reserved: {(", "reserved={("}

// poolList reads what the pools of graphs reserve: their sum, or one pool that
// stands alone on its line. What one pool holds is not what the process reserves.
func poolList(_ *Reader, f *figures) bool {
	pools := poolSize.FindAllStringSubmatch(f.text, -1)
	sum, unit, graphs := incident.Size{}, "", 0
	for _, m := range pools {
		if m[1] != "0" && m[2] != "0" {
			return false // a shape: one half of a pool's id is 0
		}
		scale, known := measureOf(m[4])
		if m[4] == "" {
			scale, known = measure{"bytes", 1}, !strings.Contains(m[3], ".")
		}
		size, ok := Scale(plain(m[3]), scale.bytes)
		if !known || !ok || unit != "" && unit != scale.name {
			return len(pools) > 0
		}
		unit = scale.name
		if m[1] != "0" || m[2] != "0" {
			sum = Add(sum, size)
			graphs++
		}
	}
	if len(pools) == 1 {
		f.format += " " + pools[0][1] + "_" + pools[0][2]
	}
	if graphs > 0 && sum.High <= MaxSize {
		f.add(Reading{Metric: PrivatePools, Size: sum, Printed: Format(sum.Bytes), Format: f.format + " " + unit})
	}
	return len(pools) > 0
}
