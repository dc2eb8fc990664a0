package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

const shipped = "../../testdata/cases/sixty-four-ranks/train.log"

// run runs the program's command in this process.
func run(t *testing.T, stdin string, args ...string) (stdout string, code int, err error) {
	t.Helper()
	root := rootCommand()
	var out bytes.Buffer
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	err = root.Execute()
	if err != nil {
		code = exitUnusable
		if exit, ok := errors.AsType[exitError](err); ok {
			code = exit.code
		}
	}
	return out.String(), code, err
}

func TestDiagnoseTheShippedLog(t *testing.T) {
	out, code, err := run(t, "", "diagnose", shipped)
	if err != nil || code != 0 {
		t.Fatalf("code %d, %v", code, err)
	}
	for _, want := range []string{"Rank 17 started it", "train.log:9157", "ranks 0-16, 18-63", "torch.cuda.graph_pool_handle()", "Check:"} {
		if !strings.Contains(out, want) {
			t.Errorf("the verdict does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("colour outside a terminal")
	}
}

// --why tells the rules that fired, each with its line, and who lost.
func TestDiagnoseWhy(t *testing.T) {
	out, _, err := run(t, "", "diagnose", "--why", shipped)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"How this was decided", "only one failed by itself\n    rank 17 is the only process with a failure of its own (line 9157)",
		"cuda-graph-capture-oom, if it happened inside a capture: holds (line 9168)",
		"What was looked for", "Who only suffered", "rank 0: c10d-timeout (line 9211)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if _, code, err := run(t, "", "diagnose", "--why", "--format", "json", shipped); err == nil || code != exitUnusable {
		t.Errorf("code %d, %v: JSON always holds it", code, err)
	}
}

func TestDiagnoseAsJSON(t *testing.T) {
	out, _, err := run(t, "", "diagnose", "--format", "json", shipped)
	if err != nil {
		t.Fatal(err)
	}
	var report incident.Report
	var raw map[string]any
	if err := json.Unmarshal([]byte(out), &raw); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"episodes", "memory", "pools", "events", "notes"} {
		if raw[list] == nil {
			t.Errorf("%s is null", list)
		}
	}
	verdict, _ := json.Marshal(raw["verdict"])
	if err := json.Unmarshal(verdict, &report.Verdict); err != nil {
		t.Fatal(err)
	}
	if v := report.Verdict; *v.Initiator.Rank != 17 || *v.Signature != "cuda-graph-capture-oom" || v.GraphPoolIsCause != incident.Yes || len(v.Collateral) != 63 {
		t.Errorf("%+v", v)
	}
}

func TestDiagnoseForAnEditor(t *testing.T) {
	out, _, err := run(t, "", "diagnose", "--format", "errorformat", shipped)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if want := shipped + ":9157:11: error: Rank 17 started it: a CUDA graph capture ran out of memory"; lines[0] != want {
		t.Errorf("the first line is %q, want %q", lines[0], want)
	}
	if n := strings.Count(out, ": collateral: "); n != 63 {
		t.Errorf("%d lines of collateral, want 63", n)
	}
}

// A folder of one file for each rank is one incident.
func TestDiagnoseAFolder(t *testing.T) {
	log, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	dealt := map[string]*strings.Builder{}
	for l := range strings.Lines(string(log)) {
		rank, rest, ok := strings.Cut(strings.TrimPrefix(l, "[rank"), "]: ")
		if !ok || len(rank) > 2 {
			continue
		}
		if dealt[rank] == nil {
			dealt[rank] = &strings.Builder{}
		}
		dealt[rank].WriteString(rest)
	}
	dir := t.TempDir()
	for rank, text := range dealt {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("20261128040000_rank%s.log", rank)), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, _, err := run(t, "", "diagnose", dir)
	if err != nil || len(dealt) != 64 {
		t.Fatalf("%d files, %v", len(dealt), err)
	}
	for _, want := range []string{"Rank 17 started it", "_rank17.log:", "ranks 0-16, 18-63"} {
		if !strings.Contains(out, want) {
			t.Errorf("the verdict does not say %q:\n%s", want, out)
		}
	}
}

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "core")
	if err := os.WriteFile(binary, []byte("\x7fELF\x02\x01\x01\x00\x01\x02\x03\x04\x05\x06\x07"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, stdin string
		args        []string
		code        int
		says        string // in the error
	}{
		{"no failure", "step 1 loss 2.0\n", []string{"diagnose", "-"}, 0, ""},
		{"empty", "", []string{"diagnose", "-"}, 0, ""},
		{"no failure, asked for the code", "step 1\n", []string{"diagnose", "--exit-code", "-"}, 0, ""},
		{"failure, asked for the code", "", []string{"diagnose", "--exit-code", shipped}, 1, ""},
		{"no path", "", []string{"diagnose"}, 2, "at least 1 arg"},
		{"missing file", "", []string{"diagnose", filepath.Join(dir, "missing.log")}, 2, "missing.log does not exist"},
		{"a folder without logs", "", []string{"diagnose", dir}, 2, "holds no log"},
		{"binary", "", []string{"diagnose", binary}, 2, "core is binary"},
		{"format", "", []string{"diagnose", "--format", "xml", "-"}, 2, `unknown format "xml"`},
		{"standard input and a path", "", []string{"diagnose", "-", shipped}, 2, "read alone"},
	} {
		_, code, err := run(t, c.stdin, c.args...)
		if code != c.code || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: code %d and %v, want %d and %q", c.name, code, err, c.code, c.says)
		}
	}
}
