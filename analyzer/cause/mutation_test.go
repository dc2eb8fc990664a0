package cause_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// incidents are logs of four processes in which the one at place 0 started it.
// r gives the rank of each place.
var incidents = []struct {
	name string
	// failing are the lines of the initiator, others those of everyone else.
	failing, others func(r []int) string
}{
	{"a capture runs out of memory, the others time out",
		func(r []int) string { return rank(r[0], inside) },
		func(r []int) string {
			return world(4) + timeout(r[1], "01:35:02") + timeout(r[2], "01:35:02") + timeout(r[3], "01:35:03")
		}},
	{"an exception, the peers see it go",
		func(r []int) string { return rank(r[0], value) },
		func(r []int) string {
			var b strings.Builder
			b.WriteString(world(4))
			for _, n := range r[1:] {
				fmt.Fprintf(&b, "[rank%[1]d]:[E1118 03:45:21.900220621 ProcessGroupNCCL.cpp:554] [Rank %[1]d] Collective WorkNCCL(SeqNum=412, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, NCCL version 2.26.5\n", n)
			}
			return b.String()
		}},
	{"vLLM's workers",
		func(r []int) string {
			var b strings.Builder
			for l := range strings.Lines(inside) {
				fmt.Fprintf(&b, "(Worker_TP%d pid=%d) ERROR 11-30 01:02:03 [multiproc_executor.py:671] %s", r[0], 140+r[0], l)
			}
			return b.String()
		},
		func(r []int) string {
			var b strings.Builder
			for _, n := range r[1:] {
				fmt.Fprintf(&b, "(Worker_TP%d pid=%d) INFO 11-30 01:02:04 [multiproc_executor.py:558] Parent process exited, terminating worker\n", n, 140+n)
			}
			return b.String()
		}},
}

// ranksOf returns who started it and who only suffered.
func ranksOf(r *incident.Report) (initiator int, fell []int) {
	initiator = -1
	if i := r.Verdict.Initiator; i != nil && i.Rank != nil {
		initiator = *i.Rank
	}
	for _, c := range r.Verdict.Collateral {
		if c.Rank != nil {
			fell = append(fell, *c.Rank)
		}
	}
	slices.Sort(fell)
	return initiator, fell
}

// Permuting the ranks permutes the answer.
func TestPermutedRanks(t *testing.T) {
	for _, in := range incidents {
		t.Run(in.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				r := rapid.Permutation([]int{0, 1, 2, 3}).Draw(rt, "ranks")
				first := rapid.Bool().Draw(rt, "the initiator prints first")
				log := in.others(r) + in.failing(r)
				if first {
					log = in.failing(r) + in.others(r)
				}
				report := diagnose(t, log)
				initiator, fell := ranksOf(report)
				want := slices.Sorted(slices.Values(r[1:]))
				if report.Verdict.Status != incident.Diagnosed || initiator != r[0] || !slices.Equal(fell, want) {
					rt.Fatalf("rank %d started it, ranks %v fell: %s", r[0], want, verdict(report))
				}
			})
		})
	}
}

// Without the initiator's lines nobody is convicted, and one fact is asked for.
func TestInitiatorsLinesRemoved(t *testing.T) {
	r := []int{2, 0, 1, 3}
	for _, in := range incidents {
		t.Run(in.name, func(t *testing.T) {
			report := diagnose(t, in.others(r))
			v := report.Verdict
			if v.Status == incident.NoFailureFound {
				return // nobody who is left tells of a failure
			}
			if v.Status != incident.Undetermined || v.Confidence != incident.Possible || v.MissingFact == nil {
				t.Error(verdict(report))
			}
			if initiator, _ := ranksOf(report); initiator >= 0 && initiator != r[0] {
				t.Errorf("rank %d is suspected", initiator)
			}
		})
	}
}

// mentions tell of failures without being one.
var mentions = []struct{ name, text string }{
	{"shell history", `$ dmesg -T | grep -i 'NVRM: Xid (PCI:0000:af:00): 79, pid=1, GPU has fallen off the bus.'
$ grep -c 'CUDA out of memory. Tried to allocate 2.00 GiB' old.log
+ torchrun --nproc-per-node 8 train.py
# RuntimeError: CUDA error: an illegal memory access was encountered
`},
	{"a quoted old traceback", `> Traceback (most recent call last):
>   File "/app/old.py", line 3, in f
>     x()
> RuntimeError: CUDA error: an illegal memory access was encountered
`},
	{"a configuration dump", `config: {"on_error": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.00 GiB", "retry": ["RuntimeError: CUDA error: misaligned address"]}
Namespace(note='RuntimeError: CUDA error: misaligned address', lr=0.1)
`},
	{"prose", `If you see "CUDA error: an illegal memory access was encountered", rerun with CUDA_LAUNCH_BLOCKING=1.
Known issue: a Watchdog caught collective operation timeout usually means that a rank is missing
`},
	{"source code", `    raise RuntimeError("CUDA error: an illegal memory access was encountered")
    if "NCCL error" in str(e):
`},
	{"a healthy step", "step 12 loss 1.23 reserved 10.0 GiB\n"},
	{"our own command", "graphtrap diagnose old.log says: RuntimeError: CUDA error: misaligned address\n"},
}

var lineNumber = regexp.MustCompile(` at line \d+`)

// What only mentions a failure changes nothing but line numbers, wherever it stands.
func TestMentionsChangeNothing(t *testing.T) {
	r := []int{2, 0, 1, 3}
	for _, in := range incidents {
		parts := []string{in.others(r), in.failing(r)}
		want := lineNumber.ReplaceAllString(verdict(diagnose(t, strings.Join(parts, ""))), "")
		for _, m := range mentions {
			for i, log := range []string{
				m.text + parts[0] + parts[1], parts[0] + m.text + parts[1], parts[0] + parts[1] + m.text,
			} {
				if got := lineNumber.ReplaceAllString(verdict(diagnose(t, log)), ""); got != want {
					t.Errorf("%s, with %s at place %d:\ngot  %s\nwant %s", in.name, m.name, i, got, want)
				}
			}
		}
	}
}

// A log that only mentions failures tells of none.
func TestMentionsAlone(t *testing.T) {
	for _, m := range mentions {
		if got := verdict(diagnose(t, m.text)); !strings.HasPrefix(got, "no_failure_found") {
			t.Errorf("%s: %s", m.name, got)
		}
	}
}

// The same lines dealt to one file for each rank name the same rank.
func TestOneFileForEachRank(t *testing.T) {
	r := []int{2, 0, 1, 3}
	for _, in := range incidents {
		log := in.others(r) + in.failing(r)
		whole, _ := ranksOf(diagnose(t, log))
		dealt := map[string]string{}
		for l := range strings.Lines(log) {
			who := l[:strings.IndexAny(l, ":")]
			dealt[who] += l
		}
		var files []string
		for _, who := range slices.Sorted(maps.Keys(dealt)) {
			files = append(files, dealt[who])
		}
		if got, _ := ranksOf(diagnose(t, files...)); got != whole || got != r[0] {
			t.Errorf("%s: rank %d in one file, rank %d in %d files", in.name, whole, got, len(files))
		}
	}
}
