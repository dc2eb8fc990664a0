package analyzer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
)

// diagnosed analyses a log and returns how to decode its lines.
func diagnosed(t *testing.T, log string, data io.ReaderAt) (*analyzer.Analysis, func(number int) []incident.Line) {
	t.Helper()
	if data == nil {
		data = strings.NewReader(log)
	}
	a, err := defaultAnalyzer().Diagnose(context.Background(), []analyzer.File{{Path: "log.txt", Data: data, Size: int64(len(log))}})
	if err != nil {
		t.Fatal(err)
	}
	return a, func(number int) []incident.Line {
		lines := strings.SplitAfter(log, "\n")
		offset := len(strings.Join(lines[:number-1], ""))
		return a.Line(0, []byte(strings.TrimSuffix(lines[number-1], "\n")), int64(number), int64(offset))
	}
}

const outOfMemory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.10 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this process has 78.05 GiB memory in use. Of the allocated memory 72.10 GiB is allocated by PyTorch, and 5.20 GiB is reserved by PyTorch but unallocated.\n"

const watchdog = "[rank0]:[E1128 04:23:21.120000001 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=52428800, NumelOut=52428800, Timeout(ms)=600000) ran for 600009 milliseconds before timing out.\n"

func TestLineSince(t *testing.T) {
	step := func(at string) string { return at + " [rank0]: step 10 loss 6.9\n" }
	for _, tt := range []struct{ name, log, want string }{
		{"printed", "2026-11-28 04:13:20 [rank1]: " + outOfMemory + watchdog, "+10 min"},
		{"the lines around it", step("2026-11-28 04:13:20") + "[rank1]: " + outOfMemory + step("2026-11-28 04:13:23") + watchdog, "~+10 min"},
		{"the lines around it, out of order", step("2026-11-28 04:13:23") + "[rank1]: " + outOfMemory + step("2026-11-28 04:13:20") + watchdog, "~+10 min"},
		{"the first line of the file", step("2026-11-28 04:13:20") + "[rank1]: " + outOfMemory + watchdog, ""},
		{"times far apart", step("2026-11-28 04:03:20") + "[rank1]: " + outOfMemory + step("2026-11-28 04:13:23") + watchdog, ""},
		{"no line before", "[rank1]: " + outOfMemory + step("2026-11-28 04:13:23") + watchdog, ""},
		{"too far away", step("2026-11-28 04:13:20") + strings.Repeat("x\n", 40_000) + "[rank1]: " + outOfMemory + step("2026-11-28 04:13:23") + watchdog, ""},
		{"no failure", step("2026-11-28 04:13:20") + strings.Replace(watchdog, "Watchdog", "watchdog", 1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, line := diagnosed(t, tt.log, nil)
			got := ""
			if e := line(strings.Count(tt.log, "\n"))[0].Since; e != nil {
				got = render.Since(e)
			}
			if got != tt.want {
				t.Errorf("the last line was printed %q, want %q", got, tt.want)
			}
		})
	}
}

// closing is a file that can be read for the analysis, and not afterwards.
type closing struct {
	*bytes.Reader
	closed bool
}

func (c *closing) ReadAt(b []byte, at int64) (int, error) {
	if c.closed {
		return 0, errors.New("closed")
	}
	return c.Reader.ReadAt(b, at)
}

func TestLineOfAClosedFile(t *testing.T) {
	log := "2026-11-28 04:13:20 [rank0]: x\n[rank1]: " + outOfMemory + "2026-11-28 04:13:21 [rank0]: x\n" + watchdog
	file := &closing{Reader: bytes.NewReader([]byte(log))}
	_, line := diagnosed(t, log, file)
	file.closed = true
	got := line(4)[0]
	if got.Since != nil || len(got.Messages) == 0 || got.Time == nil {
		t.Errorf("got %+v", got)
	}
}

// TestLineKnowsWhatTheAnalysisKnows of a line: what the lines behind it say, who a
// message is about, and exceptions that no signature knows.
func TestLineKnowsWhatTheAnalysisKnows(t *testing.T) {
	log := `[rank1]: Traceback (most recent call last):
[rank1]:   File "train.py", line 3, in <module>
[rank1]:     step()
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total
[rank1]: capacity of 79.10 GiB of which 1.02 GiB is free.
Traceback (most recent call last):
  File "data.py", line 9, in <module>
    load()
shards.ShardError: shard 3 is gone
E1128 04:13:22.305000 900 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 1 (pid: 77) of binary: /usr/bin/python
  rank      : 1 (local_rank: 1)
  exitcode  : -9 (pid: 77)
`
	_, line := diagnosed(t, log, nil)
	message := func(number int) incident.Message {
		t.Helper()
		for _, l := range line(number) {
			if len(l.Messages) > 0 {
				return l.Messages[0]
			}
		}
		t.Fatalf("line %d has no message", number)
		return incident.Message{}
	}
	if m := message(4); m.Facts["capacity"].Text != "79.10 GiB" || m.Facts["free"].Text != "1.02 GiB" {
		t.Errorf("the wrapped line has the facts %v", m.Facts)
	}
	if m := message(9); m.ID != "python-exception" || m.Says != "It raised shards.ShardError, an exception that no signature knows." {
		t.Errorf("the exception is %+v", m)
	}
	m := message(10)
	if m.About.Rank == nil || *m.About.Rank != 1 || !strings.HasPrefix(m.Means["exit_code"], "exit code -9: SIGKILL") {
		t.Errorf("the exit is %+v", m)
	}
	if l := line(10)[0]; l.RankSaid || l.Origin.PID == nil || *l.Origin.PID != 900 {
		t.Errorf("the exit was printed by %+v", l.Origin)
	}
	if l := line(4)[0]; !l.RankSaid || log[l.Who.Offset:l.Who.EndOffset] != "[rank1]" {
		t.Errorf("line 4 names its rank: %+v", l)
	}
	if l := line(10)[0]; log[l.When.Offset:l.When.EndOffset] != "1128 04:13:22.305000" {
		t.Errorf("line 10 has the time at %+v", l.When)
	}
}

// TestLineWithoutAFact has no sentence, rather than one with a hole.
func TestLineWithoutAFact(t *testing.T) {
	log := "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python3,pid=4242,uid=0\n"
	_, line := diagnosed(t, log, nil)
	if m := line(1)[0].Messages[0]; m.ID != "kernel-oom-killer" || m.Says != "" {
		t.Errorf("got %+v", m)
	}
}
