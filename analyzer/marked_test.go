package analyzer_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
)

func marked(t *testing.T, log []byte) (*incident.Report, bool) {
	t.Helper()
	a, err := defaultAnalyzer().Diagnose(context.Background(), []analyzer.File{{Path: "notes.txt", Data: bytes.NewReader(log), Size: int64(len(log))}})
	if err != nil {
		t.Fatal(err)
	}
	return a.Report, a.Marked()
}

// TestLogsAreMarked wherever a known failure is found in them.
func TestLogsAreMarked(t *testing.T) {
	logs, err := filepath.Glob("../testdata/cases/*/log.txt")
	if err != nil || len(logs) < 30 {
		t.Fatalf("%d logs: %v", len(logs), err)
	}
	found := 0
	for _, path := range logs {
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(log, []byte("\n```")) {
			continue // somebody's question, with the log in it
		}
		report, is := marked(t, log)
		want := report.Verdict.Status != incident.NoFailureFound && report.Verdict.Signature != nil
		if want && !is {
			t.Errorf("%s is taken for prose", path)
		}
		if want {
			found++
		}
	}
	if found < 20 {
		t.Errorf("only %d logs state a known failure", found)
	}
}

const quoted = `[rank3]: Traceback (most recent call last):
[rank3]:   File "/app/train.py", line 88, in capture
[rank3]:     with torch.cuda.graph(g):
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.10 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this process has 78.05 GiB memory in use. Of the allocated memory 72.10 GiB is allocated by PyTorch, and 5.20 GiB is reserved by PyTorch but unallocated.
`

func TestProseIsNotMarked(t *testing.T) {
	for name, text := range map[string]string{
		"a fence":     "Troubleshooting\n\nThe job may fail like this:\n\n```\n" + quoted + "```\n\nThen share one pool.\n",
		"a heading":   "# Troubleshooting\n\n" + quoted + "\nThen share one pool.\n",
		"a directive": "Troubleshooting\n===============\n\n.. code-block:: text\n\n" + quoted,
		"running text": "When the second capture starts, the allocator cannot reuse the memory of the first one.\n" +
			"The job then fails on one of the ranks, and all the others wait for it until they time out.\n" +
			"In the log of the run you will find something like the following lines, not always together:\n\n" + quoted +
			"\nThe remedy is to make one pool before the loop and to pass it to every capture in it.\n" +
			"Do not do this if two of the graphs are replayed at the same time, as they would overwrite\n" +
			"each other's memory. See the documentation of the graph pools for what is allowed and why.\n" +
			"- Ask the owner of the model before changing the order in which the graphs are captured.\n" +
			"- Check with a snapshot that reserved memory rises by one capture, and not by twelve.\n",
		"a log without a failure": "[rank0]: step 12 loss 6.9\n[rank1]: step 12 loss 6.9\n",
		"any program's exception": "starting\nTraceback (most recent call last):\n  File \"/app/server.py\", line 3, in run\n    raise ValueError(1)\nValueError: 1\n",
		"nothing":                 "",
	} {
		if report, is := marked(t, []byte(text)); is {
			t.Errorf("%s is marked: %s", name, report.Verdict.Title)
		}
	}
	if _, is := marked(t, []byte("step 12\n"+quoted)); !is {
		t.Error("what is quoted above is not marked by itself")
	}
}
