package analyzer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/signatures"
)

func diagnose(t *testing.T, log string, opts analyzer.Options) *incident.Report {
	t.Helper()
	return diagnoseFiles(t, opts, analyzer.File{Path: "log.txt", Data: strings.NewReader(log), Size: int64(len(log))})
}

// defaultAnalyzer is made once: compiling the signatures takes longer than reading a log.
var defaultAnalyzer = sync.OnceValue(func() *analyzer.Analyzer { return analyzer.New(builtin(), analyzer.Options{}) })

func diagnoseFiles(t *testing.T, opts analyzer.Options, files ...analyzer.File) *incident.Report {
	t.Helper()
	with := defaultAnalyzer()
	if !reflect.ValueOf(opts).IsZero() {
		with = analyzer.New(builtin(), opts)
	}
	a, err := with.Diagnose(context.Background(), files)
	if err != nil {
		t.Fatal(err)
	}
	return a.Report
}

// The samples of a failure's file are its tests.
func TestFailureSamples(t *testing.T) {
	set, err := signatures.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Failures() {
		signature := func(log string) string {
			if s := diagnose(t, strings.TrimPrefix(log, "\n"), analyzer.Options{}).Verdict.Signature; s != nil {
				return *s
			}
			return ""
		}
		if len(f.Yes) == 0 || len(f.No) == 0 {
			t.Errorf("%s: add a [[yes]] and a [[no]] log", f.ID)
		}
		for i, log := range f.Yes {
			if got := signature(log.Log); got != f.ID {
				t.Errorf("%s: its log %d is called %q", f.ID, i+1, got)
			}
		}
		for i, log := range f.No {
			if got := signature(log.Log); got == f.ID {
				t.Errorf("%s: log %d must not be called so", f.ID, i+1)
			}
		}
	}
}

// checkPromises checks what the report promises of every verdict.
func checkPromises(t *testing.T, r *incident.Report) {
	t.Helper()
	v := r.Verdict
	if v.Status == incident.NoFailureFound {
		return
	}
	if len(v.Fixes) == 0 && v.MissingFact == nil {
		t.Error("the verdict ends neither in a fix nor in a missing fact")
	}
	if v.Status == incident.Undetermined && v.MissingFact == nil {
		t.Error("an undetermined verdict asks for no fact")
	}
	if len(v.Evidence) == 0 {
		t.Error("the verdict points at no line")
	}
	for _, f := range v.Fixes {
		if f.Why == "" || f.Precondition == "" || f.Risk == "" || f.Rollback == "" || f.Code == "" {
			t.Errorf("the fix %s leaves something open: %+v", f.ID, f)
		}
	}
	hover := 1
	if i := v.Initiator; i != nil && i.StatedAt != nil {
		text, ok := render.Hover(r, i.StatedAt.Offset, nil)
		hover += strings.Count(text, "\n")
		if !ok || hover > 15 {
			t.Errorf("the hover has %d lines:\n%s", hover, text)
		}
	}
}

// checkScreen checks that a verdict fits a terminal and cannot command it.
func checkScreen(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 40 {
		t.Errorf("the verdict has %d lines", len(lines))
	}
	for _, l := range lines {
		// Code and commands stay as they are, to be copied.
		if n := utf8.RuneCountInString(l); n > render.DefaultWidth && !strings.HasPrefix(l, "    ") {
			t.Errorf("%d columns: %q", n, l)
		}
		if strings.ContainsAny(l, "\x1b\x07\r\x00") {
			t.Errorf("a control character reaches the terminal: %q", l)
		}
	}
}

// Same bytes, same report: for any chunk size and worker count, down to the byte.
func TestDeterminism(t *testing.T) {
	log, err := os.ReadFile(filepath.Join(casesDir, "sixty-four-ranks", "train.log"))
	if err != nil {
		t.Fatal(err)
	}
	log = log[len(log)-160<<10:]
	var first []byte
	for run := range 30 {
		opts := analyzer.Options{Workers: 1 + run%5, Chunk: []int{0, 4096, 1 << 16, 333, 1 << 20}[run%5] * (1 + run/10)}
		out, err := json.Marshal(diagnose(t, string(log), opts))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out
		}
		if !bytes.Equal(first, out) {
			t.Fatalf("run %d with %+v gave another report", run, opts)
		}
	}
}

// The same lines dealt to one file for each rank name the same rank and failure,
// and colours and line ends change nothing.
func TestSameLinesOtherwise(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(casesDir, "sixty-four-ranks", "train.log"))
	if err != nil {
		t.Fatal(err)
	}
	log := string(raw[len(raw)-600<<10:])
	log = log[strings.IndexByte(log, '\n')+1:]
	want := summary(diagnose(t, log, analyzer.Options{}))
	if !strings.HasPrefix(want, "rank 17 cuda-graph-capture-oom yes") {
		t.Fatal(want)
	}

	if got := summary(diagnose(t, strings.ReplaceAll(log, "\n", "\r\n"), analyzer.Options{})); got != want {
		t.Errorf("with CRLF: %s, want %s", got, want)
	}
	var colour strings.Builder
	for l := range strings.Lines(log) {
		text := strings.TrimSuffix(l, "\n")
		colour.WriteString("\x1b[36m" + strings.Replace(text, "]: ", "]:\x1b[0m ", 1) + "\x1b[0m\n")
	}
	if got := summary(diagnose(t, colour.String(), analyzer.Options{})); got != want {
		t.Errorf("with colours: %s, want %s", got, want)
	}

	dealt := map[string]*strings.Builder{}
	var order []string
	for l := range strings.Lines(log) {
		rank, rest, ok := strings.Cut(strings.TrimPrefix(l, "[rank"), "]: ")
		if !ok || len(rank) > 2 {
			continue // the launcher's
		}
		if dealt[rank] == nil {
			dealt[rank] = &strings.Builder{}
			order = append(order, rank)
		}
		dealt[rank].WriteString(rest)
	}
	var files []analyzer.File
	for _, rank := range order {
		text := dealt[rank].String()
		var n int
		fmt.Sscan(rank, &n)
		files = append(files, analyzer.File{
			Path: "rank_" + rank + ".log", Data: strings.NewReader(text), Size: int64(len(text)),
			Origin: incident.Origin{Rank: &n, RankFrom: "file's name"},
		})
	}
	if got := summary(diagnoseFiles(t, analyzer.Options{}, files...)); got != want {
		t.Errorf("dealt to %d files: %s, want %s", len(files), got, want)
	}
}

func summary(r *incident.Report) string {
	v := r.Verdict
	rank, signature := "?", "?"
	if v.Initiator != nil && v.Initiator.Rank != nil {
		rank = fmt.Sprint(*v.Initiator.Rank)
	}
	if v.Signature != nil {
		signature = *v.Signature
	}
	var fell []int
	for _, c := range v.Collateral {
		if c.Rank != nil {
			fell = append(fell, *c.Rank)
		}
	}
	return fmt.Sprintf("rank %s %s %s, fell: %s", rank, signature, v.GraphPoolIsCause, incident.Ranges(fell))
}

// Bad input gives an honest report in bounded memory, and never a panic.
func TestBadInput(t *testing.T) {
	for name, log := range map[string]string{
		"empty":         "",
		"one byte":      "x",
		"no text":       "\x00\x01\x02\xff\xfe\n\x80\x80",
		"invalid UTF-8": "[rank0]: \xff\xfe step 1\n",
		"only LF":       strings.Repeat("\n", 1000),
		"only CR":       strings.Repeat("\r", 1000),
		"cut header":    "[rank0]: Traceback (most recent call",
		"open end":      "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"a.py\", line 1, in f\n",
	} {
		if v := diagnose(t, log, analyzer.Options{}).Verdict; v.Status != incident.NoFailureFound {
			t.Errorf("%s: %s", name, v.Title)
		}
	}
}

// Victims without a rank beside failures that tie: nobody's rank is known.
func TestVictimsWithoutRanks(t *testing.T) {
	worker := func(pid int, last string) string {
		return fmt.Sprintf("(VllmWorkerProcess pid=%[1]d) Traceback (most recent call last):\n(VllmWorkerProcess pid=%[1]d)   File \"a.py\", line 1, in f\n(VllmWorkerProcess pid=%[1]d) %[2]s\n", pid, last)
	}
	r := diagnose(t, worker(5, "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:41022")+
		worker(5, "ValueError: late")+worker(7, "RuntimeError: CUDA error: out of memory")+worker(8, "RuntimeError: CUDA error: out of memory"), analyzer.Options{})
	if got := summary(r); got != "rank ? cuda-oom undetermined, fell: " || len(r.Verdict.CoInitiators) != 1 || len(r.Verdict.Collateral) != 1 {
		t.Errorf("%s, %d co-initiators, %d collateral", got, len(r.Verdict.CoInitiators), len(r.Verdict.Collateral))
	}
}

// endless is a file of one line that is never kept.
type endless struct{ size int64 }

func (e endless) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), e.size-off))
	for i := range n {
		p[i] = 'x'
	}
	return n, nil
}

func TestEndlessLine(t *testing.T) {
	const size = 200 << 20
	r := diagnoseFiles(t, analyzer.Options{}, analyzer.File{Path: "long.log", Data: endless{size}, Size: size})
	if r.Verdict.Status != incident.NoFailureFound || r.Input.Files[0].Lines != 1 {
		t.Errorf("%s, %d lines", r.Verdict.Title, r.Input.Files[0].Lines)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := analyzer.Diagnose(ctx, []analyzer.File{{Path: "x", Data: endless{1 << 30}, Size: 1 << 30}}, analyzer.Options{})
	if err == nil {
		t.Error("a cancelled analysis gave a report")
	}
}

// Elastic restarts: the report is about the last attempt that failed, and says so.
func TestRestarts(t *testing.T) {
	failure := func(rank int, text string) string {
		return fmt.Sprintf("[rank%[1]d]: Traceback (most recent call last):\n[rank%[1]d]:   File \"/app/a.py\", line 3, in step\n[rank%[1]d]: ValueError: %[2]s\n", rank, text)
	}
	r := diagnose(t, failure(0, "first")+
		"E1128 10:00:00.000000 1 torch/distributed/elastic/agent/server/api.py:900] [default] Worker group FAILED. 2/3 attempts left; will restart worker group\n"+
		failure(1, "second")+"[rank0]: going on\n", analyzer.Options{})
	if got := summary(r); !strings.HasPrefix(got, "rank 1 ") || len(r.Episodes) != 2 || r.Episodes[1].Attempt != 1 {
		t.Errorf("%s, episodes %+v", got, r.Episodes)
	}
	if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "2 attempts") {
		t.Errorf("notes %q do not tell of the attempts", r.Notes)
	}
}
