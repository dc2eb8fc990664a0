package analyzer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// expected reads what an expert says of a case; nil if the case has no case.json.
func expected(t *testing.T, dir string) *expectation {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var c struct{ Expect expectation }
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &c.Expect
}

// eachCase runs a check on every case that is one file and has an expectation.
func eachCase(t *testing.T, check func(t *testing.T, log []byte, e *expectation)) {
	t.Helper()
	n := 0
	for _, dir := range caseDirs(t) {
		log, err := os.ReadFile(filepath.Join(dir, "log.txt"))
		e := expected(t, dir)
		if err != nil || e == nil {
			continue
		}
		n++
		t.Run(filepath.Base(dir), func(t *testing.T) { check(t, log, e) })
	}
	if n < 40 {
		t.Errorf("%d cases were mutated: there must be more", n)
	}
}

func diagnoseBytes(t *testing.T, log []byte) *incident.Report {
	t.Helper()
	return diagnoseFiles(t, analyzer.Options{}, analyzer.File{Path: "log.txt", Data: bytes.NewReader(log), Size: int64(len(log))})
}

// same fails where an aspect that was right no longer is.
func same(t *testing.T, e *expectation, before, after *incident.Report, what string) {
	t.Helper()
	was, is := e.judge(before), e.judge(after)
	for _, aspect := range slices.Sorted(maps.Keys(was)) {
		if was[aspect] == right && is[aspect] != right {
			t.Errorf("%s: %s is %s:\n%s", what, aspect, is[aspect], told(after))
		}
	}
}

// told is a verdict in a line.
func told(r *incident.Report) string {
	v := r.Verdict
	s := fmt.Sprint(v.Status, ", ", v.Title)
	if v.Initiator != nil && v.Initiator.StatedAt != nil {
		s += fmt.Sprintf(", line %d: %s", v.Initiator.StatedAt.Line, v.Initiator.StatedAt.Text)
	}
	return s
}

// shifted is the expectation for a log with lines put in front.
func (e *expectation) shifted(by int64) *expectation {
	out := *e
	if e.Line != nil {
		n := *e.Line + by
		out.Line = &n
	}
	out.LineAlso = nil
	for _, n := range e.LineAlso {
		out.LineAlso = append(out.LineAlso, n+by)
	}
	return &out
}

// mentions tell of failures of other days: quoted, searched for, noted down.
const mentions = `$ dmesg -T | grep -i 'NVRM: Xid (PCI:0000:af:00): 79, pid=1, GPU has fallen off the bus.'
$ grep -c 'CUDA out of memory. Tried to allocate 2.00 GiB' old.log
+ torchrun --nproc-per-node 8 train.py --note "NCCL error: remote process exited"
> Traceback (most recent call last):
>   File "/app/old.py", line 3, in f
>     x()
> RuntimeError: CUDA error: an illegal memory access was encountered
    [rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.00 GiB. GPU 5 has a total capacity of 79.11 GiB
    E1102 16:20:51.331000 33 site-packages/torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 5 (pid: 128) of binary: /opt/conda/bin/python
If you see "CUDA error: misaligned address", rerun with CUDA_LAUNCH_BLOCKING=1.
`

// Old tracebacks, shell history and notes change nothing, in front or behind.
func TestMentionsAroundCases(t *testing.T) {
	eachCase(t, func(t *testing.T, log []byte, e *expectation) {
		before := diagnoseBytes(t, log)
		front := diagnoseBytes(t, append([]byte(mentions), log...))
		was, is := e.judge(before), e.shifted(int64(strings.Count(mentions, "\n"))).judge(front)
		for _, aspect := range slices.Sorted(maps.Keys(was)) {
			if was[aspect] == right && is[aspect] != right {
				t.Errorf("in front: %s is %s: %s", aspect, is[aspect], told(front))
			}
		}
		behind := append(bytes.TrimRight(bytes.Clone(log), "\n"), "\n"+mentions...)
		same(t, e, before, diagnoseBytes(t, behind), "behind")
	})
}

var clock = regexp.MustCompile(`\b(\d\d)(:\d\d:\d\d)\b`)

// An hour later on every clock changes nothing.
func TestShiftedTimes(t *testing.T) {
	eachCase(t, func(t *testing.T, log []byte, e *expectation) {
		late := false
		shifted := clock.ReplaceAllFunc(log, func(text []byte) []byte {
			hour, _ := strconv.Atoi(string(text[:2]))
			late = late || hour >= 23
			return fmt.Appendf(nil, "%02d%s", hour+1, text[2:])
		})
		if late {
			t.Skip("it runs until midnight, so that the shift would change the day")
		}
		same(t, e, diagnoseBytes(t, log), diagnoseBytes(t, shifted), "an hour later")
	})
}

// What a terminal of 120 columns shows and a forum keeps: never another rank, and
// seldom less.
func TestHardWrapped(t *testing.T) {
	kept, lost := 0, 0
	eachCase(t, func(t *testing.T, log []byte, e *expectation) {
		var out []byte
		at, n := map[int64]int64{}, int64(0) // the new number of each line
		old := int64(0)
		for l := range bytes.Lines(log) {
			old, n = old+1, n+1
			at[old] = n
			text := []rune(strings.TrimRight(string(l), "\r\n"))
			for len(text) > 120 {
				out = append(append(out, string(text[:120])...), '\n')
				text = text[120:]
				n++
			}
			out = append(append(out, string(text)...), '\n')
		}
		moved := *e
		if e.Line != nil {
			line := at[*e.Line]
			moved.Line = &line
		}
		moved.LineAlso = nil
		for _, line := range e.LineAlso {
			moved.LineAlso = append(moved.LineAlso, at[line])
		}
		after := diagnoseBytes(t, out)
		is := moved.judge(after)
		if is["rank"] == wrong {
			t.Errorf("wrapped: the rank is wrong: %s", told(after))
		}
		for aspect, was := range e.judge(diagnoseBytes(t, log)) {
			switch {
			case was != right:
			case is[aspect] == right:
				kept++
			default:
				lost++
				t.Logf("%s is %s: %s", aspect, is[aspect], told(after))
			}
		}
	})
	t.Logf("%d aspects kept, %d lost", kept, lost)
	if lost > kept/10 {
		t.Errorf("%d of %d aspects were lost", lost, kept+lost)
	}
}

// A wrapper that prints a failure twice adds nothing.
func TestDoubledWrappers(t *testing.T) {
	eachCase(t, func(t *testing.T, log []byte, e *expectation) {
		before := diagnoseBytes(t, log)
		double := map[int64]bool{}
		for _, event := range before.Events {
			if event.Role == incident.RoleEcho && event.Location.Line == event.Location.EndLine {
				double[event.Location.Line] = true
			}
		}
		// Their lines move, so only what does not depend on lines is compared.
		var out []byte
		n := int64(0)
		for l := range bytes.Lines(log) {
			n++
			out = append(out, l...)
			if double[n] && bytes.HasSuffix(l, []byte("\n")) {
				out = append(out, l...)
			}
		}
		after := diagnoseBytes(t, out)
		was, is := e.judge(before), e.judge(after)
		for _, aspect := range []string{"rank", "signature", "cause"} {
			if was[aspect] == right && is[aspect] != right {
				t.Errorf("%s is %s: %s", aspect, is[aspect], told(after))
			}
		}
	})
}

var (
	rootCause = regexp.MustCompile(`(?s)(Root Cause \(first observed failure\):.*?rank\s+: )(\d+)( \(local_rank: )(\d+)(\).*?\(pid: )(\d+)`)
	ownLabel  = regexp.MustCompile(`outer prefix|logger's|scheduler's task label|worker's label`)
)

// Where the initiator's own lines carry its rank, torchrun's table may blame whom it
// likes.
func TestSwappedTable(t *testing.T) {
	swapped := 0
	eachCase(t, func(t *testing.T, log []byte, e *expectation) {
		before := diagnoseBytes(t, log)
		i := before.Verdict.Initiator
		if !rootCause.Match(log) || i == nil || i.Rank == nil || !ownLabel.MatchString(i.RankFrom) {
			t.Skip("no table, or the rank is known by it")
		}
		swapped++
		other := rootCause.ReplaceAllFunc(log, func(table []byte) []byte {
			m := rootCause.FindSubmatch(table)
			rank, _ := strconv.Atoi(string(m[2]))
			if rank++; rank == *i.Rank {
				rank++
			}
			return fmt.Appendf(nil, "%s%d%s%d%s%d", m[1], rank, m[3], rank%8, m[5], 999000+rank)
		})
		after := diagnoseBytes(t, other)
		got, want := after.Verdict.Initiator, before.Verdict.Initiator
		if got == nil || got.Rank == nil || *got.Rank != *want.Rank || got.StatedAt.Line != want.StatedAt.Line {
			t.Errorf("the table turned the verdict: %s", told(after))
		}
	})
	if swapped < 5 {
		t.Errorf("%d tables were swapped", swapped)
	}
}

// Without the initiator's lines nobody else is convicted.
func TestInitiatorsLinesDropped(t *testing.T) {
	dropped := 0
	eachCase(t, func(t *testing.T, log []byte, e *expectation) {
		before := diagnoseBytes(t, log)
		v := before.Verdict
		if v.Status != incident.Diagnosed || v.Initiator == nil || v.Initiator.Rank == nil || v.Initiator.Location == nil || e.SingleProcess || len(before.Episodes) > 1 {
			t.Skip("no single initiator among several")
		}
		dropped++
		gone := map[int64]bool{}
		drop := func(at incident.Location) {
			for n := at.Line; n <= at.EndLine; n++ {
				gone[n] = true
			}
		}
		drop(*v.Initiator.Location)
		for _, event := range before.Events {
			if event.Rank != nil && *event.Rank == *v.Initiator.Rank {
				drop(event.Location)
			}
		}
		label := regexp.MustCompile(fmt.Sprintf(`\[rank%d\]:|TP%[1]d\b|rank[=:]%[1]d\b`, *v.Initiator.Rank))
		var out []byte
		n := int64(0)
		for l := range bytes.Lines(log) {
			if n++; !gone[n] && !label.Match(l) {
				out = append(out, l...)
			}
		}
		after := diagnoseBytes(t, out).Verdict
		if after.Status == incident.NoFailureFound {
			return // nobody who is left tells of a failure
		}
		if i := after.Initiator; after.Status == incident.Diagnosed && i != nil && i.Rank != nil && *i.Rank == *v.Initiator.Rank {
			return // its failure is told again in lines without a label
		}
		if after.Status != incident.Undetermined || after.MissingFact == nil {
			t.Errorf("still %s: %s", after.Status, after.Title)
		}
		if i := after.Initiator; i != nil && i.Rank != nil && *i.Rank != *v.Initiator.Rank && i.RankFrom != "the only process" && after.Confidence != incident.Possible {
			t.Errorf("rank %d is convicted instead", *i.Rank)
		}
	})
	if dropped < 20 {
		t.Errorf("%d cases had an initiator to drop", dropped)
	}
}

// A log that is cut anywhere never convicts a rank that the whole log acquits, and
// every answer is a whole one.
func TestTruncatedLogs(t *testing.T) {
	eachCase(t, func(t *testing.T, log []byte, e *expectation) {
		if len(e.CoFailing) > 0 || e.Rank == nil && len(e.RankAlso) > 0 {
			t.Skip("several failed: which of them are left depends on the cut")
		}
		lines := bytes.SplitAfter(log, []byte("\n"))
		for tenth := 2; tenth < 10; tenth += 3 {
			cut := bytes.Join(lines[:len(lines)*tenth/10], nil)
			report := diagnoseBytes(t, cut)
			checkPromises(t, report)
			v := report.Verdict
			if v.Status == incident.Diagnosed && v.Initiator != nil && e.rank(v.Initiator.Rank) == wrong {
				t.Errorf("the first %d tenths: %s", tenth, told(report))
			}
		}
	})
}

// The same bytes give the same JSON, for any number of workers and any chunks.
func TestThirtyRuns(t *testing.T) {
	for _, name := range []string{"sixty-four-ranks", "nemo-thirty-two-ranks-loss-oom-four-tables", "two-failures-forty-seconds-apart-in-the-log-tree"} {
		t.Run(name, func(t *testing.T) {
			files := caseFiles(t, filepath.Join(casesDir, name))
			var want []byte
			for run := range 30 {
				opts := analyzer.Options{Workers: 1 + run%7, Chunk: 1 << (12 + run%9)}
				got, err := json.Marshal(diagnoseFiles(t, opts, files...))
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("run %d with %+v differs", run, opts)
				}
			}
		})
	}
}
