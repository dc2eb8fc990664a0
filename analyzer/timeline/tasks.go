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

// oneRankEach reports whether the run has as many ranks as the scheduler started
// tasks, so that their numbers are the same.
//
//	SLURM_JOB_NODELIST=gn[0420-0421]  SLURM_NTASKS=16  SLURM_NTASKS_PER_NODE=8
//	| distributed init (rank 7): env://, gpu 7
func oneRankEach(events []*message.Event) bool {
	world, _ := worldSize(events)
	ntasks := 0
	joined := map[int]bool{}
	for _, e := range events {
		if n := number(e, "ntasks"); n != nil {
			ntasks = max(ntasks, *n)
		}
		if rank := number(e, "rank"); rank != nil && e.ID == "distributed-init" {
			joined[*rank] = true
		}
	}
	if ntasks < 2 {
		return false
	}
	for rank := range joined {
		if rank >= ntasks {
			return false
		}
	}
	return world == ntasks || len(joined) == ntasks
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
