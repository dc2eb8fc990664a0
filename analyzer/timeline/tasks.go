package timeline

import (
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/message"
)

// maxTasks bounds the length of a list of tasks.
const maxTasks = 1 << 14

// tasks returns the ranks of the scheduler's tasks that an event names, if this
// run starts one task for each rank: then its lines carry task labels.
//
//	srun: error: cn-21: tasks 0-2,7: Terminated
func (m *maps) tasks(e *message.Event) []int {
	f, ok := e.Facts["task"]
	if !ok || !m.labelled {
		return nil
	}
	return parseTasks(f.Text)
}

func parseTasks(list string) []int {
	var out []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			return nil
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(to); err != nil {
				return nil
			}
		}
		for n := a; n <= b; n++ {
			if len(out) == maxTasks {
				return out
			}
			out = append(out, n)
		}
	}
	return out
}
