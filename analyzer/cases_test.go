package analyzer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/input"
	"github.com/graphtrap/graphtrap/analyzer/render"
)

var update = flag.Bool("update", false, "write the verdicts of testdata/cases instead of comparing them")

const casesDir = "../testdata/cases"

// caseFiles opens a case's log: log.txt, train.log, or a folder logs.
func caseFiles(t testing.TB, dir string) []analyzer.File {
	t.Helper()
	for _, name := range []string{"log.txt", "train.log"} {
		log, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			return []analyzer.File{{Path: name, Data: bytes.NewReader(log), Size: int64(len(log))}}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	files, closeAll, notes, err := input.Folder(os.DirFS(filepath.Join(dir, "logs")), "logs")
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	t.Cleanup(closeAll)
	return files
}

func caseDirs(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(casesDir, "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases under %s: %v", casesDir, err)
	}
	return dirs
}

// Each folder of testdata/cases holds a log and the verdict that it must get, as it
// is printed (verdict.txt) and, for most, as an expert would give it (case.json).
func TestCases(t *testing.T) {
	for _, dir := range caseDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			report := diagnoseFiles(t, analyzer.Options{}, caseFiles(t, dir)...)
			checkPromises(t, report)
			checkExpected(t, filepath.Join(dir, "case.json"), report)
			var text strings.Builder
			if err := render.Text(&text, report, render.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			checkScreen(t, text.String())
			golden := filepath.Join(dir, "verdict.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v: write it with -update, and read it", err)
			}
			if diff := cmp.Diff(string(want), text.String()); diff != "" {
				t.Errorf("the verdict changed (-want +got):\n%s", diff)
			}
		})
	}
}

// expectation is what an expert says of a log, written before it was diagnosed.
// testdata/README.md tells what the members mean.
type expectation struct {
	Rank          *int  `json:"initiating_rank"`
	RankAlso      []int `json:"initiating_rank_also_acceptable"`
	SingleProcess bool  `json:"single_process"`

	Line     *int64  `json:"initiating_line"`
	LineAlso []int64 `json:"initiating_line_also_acceptable"`

	Signature     string   `json:"signature"`
	SignatureAlso []string `json:"signature_also_acceptable"`

	Cause     any   `json:"graph_pool_is_cause"`
	CauseAlso []any `json:"graph_pool_is_cause_also_acceptable"`

	Collateral  []int   `json:"collateral_ranks"`
	CoFailing   []int   `json:"co_failing_ranks"`
	Fix         *string `json:"fix"`
	MissingFact *string `json:"missing_fact"`

	// FallsShort names what is not found yet ("collateral", ...), and why. It may
	// only excuse what is left open, never a wrong claim.
	FallsShort map[string]string `json:"falls_short"`
}

// The results of one aspect.
const (
	right = "right"
	wrong = "wrong"
	open  = "left open"
)

// checkExpected compares a report with what the expert says.
func checkExpected(t *testing.T, path string, r *incident.Report) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var c struct {
		Kind, What string
		Expect     expectation
	}
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if c.Kind == "" || c.What == "" {
		t.Errorf("%s: say in kind and what which kind of run it stands for", path)
	}
	got := c.Expect.judge(r)
	for _, aspect := range slices.Sorted(maps.Keys(got)) {
		why, excused := c.Expect.FallsShort[aspect]
		switch result := got[aspect]; {
		case result == right && excused:
			t.Errorf("%s is right now: take %q out of falls_short", aspect, why)
		case result == wrong, result == open && !excused:
			t.Errorf("%s: %s (%s)", aspect, result, c.What)
		}
	}
}

// judge gives the result of each aspect.
func (e *expectation) judge(r *incident.Report) map[string]string {
	v, got := r.Verdict, map[string]string{}
	initiator := incident.Initiator{}
	if v.Initiator != nil {
		initiator = *v.Initiator
	}
	got["rank"] = e.rank(initiator.Rank)
	got["line"] = e.line(initiator.Location)
	got["signature"] = e.signature(v.Signature)
	got["cause"] = e.cause(v.GraphPoolIsCause)
	got["collateral"] = e.collateral(v.Collateral)
	if e.MissingFact != nil {
		got["missing fact"] = map[bool]string{true: right, false: open}[v.MissingFact != nil]
	}
	if e.Fix != nil && e.Cause == true {
		got["fix"] = map[bool]string{true: right, false: open}[len(v.Fixes) > 0 && len(v.Verify) > 0]
	}
	return got
}

func (e *expectation) rank(have *int) string {
	same := func(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }
	switch {
	case same(have, e.Rank), have != nil && slices.Contains(e.RankAlso, *have), e.SingleProcess && (have == nil || *have == 0):
		return right
	case have == nil:
		return open
	}
	return wrong
}

func (e *expectation) line(at *incident.Location) string {
	wants := slices.Clone(e.LineAlso)
	if e.Line != nil {
		wants = append(wants, *e.Line)
	}
	switch {
	case e.Line == nil && (at == nil || len(wants) == 0):
		return right
	case at == nil:
		return open
	case slices.ContainsFunc(wants, func(n int64) bool { return at.Line <= n && n <= at.EndLine }):
		return right
	}
	return wrong
}

// signature: a class outside of the core list ("other:...") may have any name or
// none, but never one of that list.
func (e *expectation) signature(have *string) string {
	name := ""
	if have != nil {
		name = *have
	}
	for _, want := range append([]string{e.Signature}, e.SignatureAlso...) {
		if name == want || strings.HasPrefix(want, "other:") && !slices.Contains(core, name) {
			return right
		}
	}
	if name == "" {
		return open
	}
	return wrong
}

// core are the failures that the encyclopedia began with.
var core = []string{
	"cuda-graph-pool-growth", "cuda-graph-capture-oom", "cuda-graph-pool-not-released",
	"cuda-graph-recapture-dynamic-shapes", "cuda-graph-capture-invalidated",
	"cuda-graph-unsafe-op-in-capture", "cuda-graph-output-overwritten", "cuda-graph-replay-fault",
	"cuda-graph-pool-state", "cuda-graph-nccl", "cuda-oom", "cuda-oom-fragmentation", "nccl-timeout",
	"nccl-error", "cuda-error-async", "xid", "host-oom",
}

func (e *expectation) cause(have incident.Answer) string {
	answer := map[any]incident.Answer{true: incident.Yes, false: incident.No, "undetermined": incident.Unknown, nil: incident.Unknown}
	for _, want := range append([]any{e.Cause}, e.CauseAlso...) {
		if answer[want] == have {
			return right
		}
	}
	if have == incident.Unknown {
		return open
	}
	return wrong
}

func (e *expectation) collateral(list []incident.Collateral) string {
	missing := map[int]bool{}
	for _, rank := range e.Collateral {
		missing[rank] = true
	}
	for _, c := range list {
		switch {
		case c.Rank == nil || slices.Contains(e.CoFailing, *c.Rank):
		case !slices.Contains(e.Collateral, *c.Rank):
			return wrong
		default:
			delete(missing, *c.Rank)
		}
	}
	if len(missing) > 0 {
		return open
	}
	return right
}

// The judge itself: a claim that is false is wrong, and silence is not.
func TestJudge(t *testing.T) {
	rank := func(n int) *int { return &n }
	line := int64(7)
	e := expectation{Rank: rank(3), Line: &line, Signature: "cuda-oom", Cause: false, Collateral: []int{0, 1}, CoFailing: []int{2}}
	suffered := func(ranks ...int) (out []incident.Collateral) {
		for _, r := range ranks {
			out = append(out, incident.Collateral{Rank: &r})
		}
		return out
	}
	name := func(s string) *string { return &s }
	for i, tt := range []struct{ got, want string }{
		{e.rank(rank(3)), right}, {e.rank(nil), open}, {e.rank(rank(0)), wrong},
		{e.line(&incident.Location{Line: 5, EndLine: 9}), right}, {e.line(nil), open}, {e.line(&incident.Location{Line: 8, EndLine: 9}), wrong},
		{e.signature(name("cuda-oom")), right}, {e.signature(nil), open}, {e.signature(name("xid")), wrong},
		{e.cause(incident.No), right}, {e.cause(incident.Unknown), open}, {e.cause(incident.Yes), wrong},
		{e.collateral(suffered(0, 1, 2)), right}, {e.collateral(suffered(1)), open}, {e.collateral(suffered(0, 1, 4)), wrong},
		{(&expectation{Signature: "other:x"}).signature(nil), right}, {(&expectation{Signature: "other:x"}).signature(name("xid")), wrong},
		{(&expectation{SingleProcess: true, Rank: rank(0)}).rank(nil), right},
	} {
		if tt.got != tt.want {
			t.Error(fmt.Sprint("check ", i, ": ", tt.got, ", want ", tt.want))
		}
	}
}
