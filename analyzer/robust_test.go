package analyzer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/signatures"
)

var builtin = sync.OnceValue(func() *signatures.Set {
	set, err := signatures.Builtin()
	if err != nil {
		panic(err)
	}
	return set
})

// reportOf diagnoses one log and returns its report, also as JSON.
func reportOf(t testing.TB, log []byte, opts analyzer.Options) (*incident.Report, []byte) {
	t.Helper()
	return reportBy(t, analyzer.New(builtin(), opts), log)
}

func reportBy(t testing.TB, engine *analyzer.Analyzer, log []byte) (*incident.Report, []byte) {
	t.Helper()
	file := analyzer.File{Path: "log.txt", Data: bytes.NewReader(log), Size: int64(len(log))}
	a, err := engine.Diagnose(context.Background(), []analyzer.File{file})
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(a.Report)
	if err != nil {
		t.Fatal(err)
	}
	return a.Report, out
}

// checkHonest checks what holds for the report on any bytes.
func checkHonest(t testing.TB, r *incident.Report, log []byte) {
	t.Helper()
	v := r.Verdict
	switch v.Status {
	case incident.NoFailureFound:
		if v.Initiator != nil || v.Signature != nil || len(v.Collateral) > 0 {
			t.Errorf("no failure, and yet %+v", v)
		}
	case incident.Undetermined:
		if v.MissingFact == nil || v.MissingFact.Fact == "" || v.MissingFact.How == "" {
			t.Errorf("undetermined, and no fact is asked for: %s", v.Title)
		}
	case incident.Diagnosed:
		if v.MissingFact == nil && len(v.Fixes) == 0 {
			t.Errorf("neither a fix nor a fact is named: %s", v.Title)
		}
	default:
		t.Errorf("status %q", v.Status)
	}
	at := func(what string, l *incident.Location) {
		if l == nil {
			return
		}
		if l.Offset < 0 || l.EndOffset < l.Offset || l.EndOffset > int64(len(log)) || l.Line < 1 || l.EndLine < l.Line || l.Column < 1 {
			t.Fatalf("%s stands at %+v of %d bytes", what, *l, len(log))
		}
		if line := 1 + bytes.Count(log[:l.Offset], []byte("\n")); int64(line) != l.Line {
			t.Errorf("%s: offset %d is in line %d, not %d", what, l.Offset, line, l.Line)
		}
	}
	ranks := map[int]bool{}
	if i := v.Initiator; i != nil {
		at("initiator", i.Location)
		at("statement", i.StatedAt)
		if i.Rank != nil {
			ranks[*i.Rank] = true
		}
	}
	for _, i := range v.CoInitiators {
		at("co-initiator", i.StatedAt)
		if i.Rank != nil {
			ranks[*i.Rank] = true
		}
	}
	for _, c := range v.Collateral {
		at("collateral", &c.Location)
		if c.Rank != nil && ranks[*c.Rank] {
			t.Errorf("rank %d is listed twice, or as a victim of itself", *c.Rank)
		}
		if c.Rank != nil {
			ranks[*c.Rank] = true
		}
	}
	for _, e := range v.Evidence {
		at("evidence", &e.Location)
	}
	for _, e := range r.Events {
		at(e.Message, &e.Location)
	}
	var text strings.Builder
	if err := render.Text(&text, r, render.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{text.String(), render.Markdown(r, nil)} {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x1b\x00\x07\r") {
			t.Errorf("a control character or invalid UTF-8: %q", s)
		}
	}
}

// samples are the logs of all cases and of all failures.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	logs := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(casesDir, "*", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if base := filepath.Base(file); base != "log.txt" && base != "train.log" {
			continue
		}
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		logs[filepath.Base(filepath.Dir(file))] = log[max(0, len(log)-100<<10):]
	}
	for _, f := range builtin().Failures() {
		for _, l := range f.Yes {
			logs[f.ID] = append(logs[f.ID], strings.TrimPrefix(l.Log, "\n")...)
		}
	}
	return logs
}

// Every sample gets one and the same report in chunks of any size.
func TestEverySampleInChunks(t *testing.T) {
	for name, log := range samples(t) {
		report, want := reportOf(t, log, analyzer.Options{})
		checkHonest(t, report, log)
		for i, chunk := range []int{1 << 10, 4099, 1 << 15} {
			if _, got := reportOf(t, log, analyzer.Options{Chunk: chunk, Workers: 1 + i}); !bytes.Equal(got, want) {
				t.Errorf("%s: chunks of %d bytes give another report", name, chunk)
			}
		}
	}
}

// Logs that were cut, garbled or pasted together give honest reports too.
func TestDamagedSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, log := range samples(t) {
		log = log[max(0, len(log)-20<<10):]
		for range 8 {
			from, to := random.IntN(len(log)), random.IntN(len(log)+1)
			damaged := bytes.Clone(log[min(from, to):max(from, to)])
			for range len(damaged) / 200 {
				damaged[random.IntN(len(damaged))] = "\x00\xff\n\r\x1b [(:x3"[random.IntN(11)]
			}
			t.Run(name, func(t *testing.T) {
				report, _ := reportOf(t, damaged, analyzer.Options{})
				checkHonest(t, report, damaged)
				if t.Failed() {
					t.Logf("%q", damaged)
				}
			})
		}
	}
}

func TestFailureAmongGarbage(t *testing.T) {
	garbage := make([]byte, 1<<20)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range garbage {
		garbage[i] = byte(random.Uint32())
	}
	const failure = "\n[rank3]: RuntimeError: CUDA error: an illegal memory access was encountered\n"
	log := append(append(bytes.Clone(garbage), failure...), garbage...)
	report, _ := reportOf(t, log, analyzer.Options{})
	checkHonest(t, report, log)
	if i := report.Verdict.Initiator; i == nil || i.Rank == nil || *i.Rank != 3 {
		t.Errorf("%s", report.Verdict.Title)
	}
}

func TestFailureWithInvalidUTF8(t *testing.T) {
	log := []byte("[rank3]: \xff\xfeTraceback (most recent call last):\n[rank3]:   File \"/app/\xff.py\", line 3, in f\xfe\n[rank3]: ValueError: \x80\x81 bad\n")
	report, out := reportOf(t, log, analyzer.Options{})
	checkHonest(t, report, log)
	if report.Verdict.Status == incident.NoFailureFound || !json.Valid(out) {
		t.Errorf("%s", report.Verdict.Title)
	}
}

// repeated is a file of one line over and over that is never kept.
type repeated struct {
	line string
	size int64
}

func (r repeated) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), r.size-off))
	at := int(off % int64(len(r.line)))
	for i := 0; i < n; {
		m := copy(p[i:n], r.line[at:])
		i += m
		at = (at + m) % len(r.line)
	}
	return n, nil
}

// allocated is how much memory a diagnosis asks for, all told.
func allocated(t *testing.T, file analyzer.File) (*incident.Report, uint64) {
	t.Helper()
	engine := analyzer.New(builtin(), analyzer.Options{Workers: 2})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := engine.Diagnose(context.Background(), []analyzer.File{file})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return a.Report, after.TotalAlloc - before.TotalAlloc
}

// Memory does not grow with the length of the log, only with what is found in it.
func TestMemoryIsBounded(t *testing.T) {
	const size = 200 << 20
	const bound = size / 2 // of all that is ever asked for: the race detector makes pools forget
	for name, data := range map[string]repeated{
		"one line":      {"x", size},
		"empty lines":   {"\n", size / 4},
		"healthy steps": {"[rank3]: step 12 loss 1.23\n", size / 4},
	} {
		report, used := allocated(t, analyzer.File{Path: name, Data: data, Size: data.size})
		if report.Verdict.Status != incident.NoFailureFound || used > bound {
			t.Errorf("%s: %s, %d MiB", name, report.Verdict.Title, used>>20)
		}
	}
}

// More failures than anyone can read: the answer is the first, and what was left
// out is said.
func TestCountlessFailures(t *testing.T) {
	data := repeated{"[rank3]: Killed\n", 20 << 20}
	report, _ := allocated(t, analyzer.File{Path: "x.log", Data: data, Size: data.size})
	v := report.Verdict
	if v.Initiator == nil || v.Initiator.StatedAt == nil || v.Initiator.StatedAt.Line != 1 || len(report.Coverage.Cut) == 0 {
		t.Errorf("%s, cut %q", v.Title, report.Coverage.Cut)
	}
}

// The reasoning must not compare every process with every other one.
func TestManyProcesses(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "[rank%[1]d]: Traceback (most recent call last):\n[rank%[1]d]:   File \"/app/a.py\", line 3, in f\n[rank%[1]d]: ValueError: x\n", i)
	}
	report, _ := reportOf(t, []byte(b.String()), analyzer.Options{})
	if i := report.Verdict.Initiator; i == nil || i.Rank != nil {
		t.Errorf("%s", report.Verdict.Title)
	}
}

func FuzzDiagnose(f *testing.F) {
	for _, log := range samples(f) {
		f.Add(log[max(0, len(log)-2<<10):])
	}
	whole := analyzer.New(builtin(), analyzer.Options{})
	pieces := analyzer.New(builtin(), analyzer.Options{Chunk: 61, Workers: 2})
	f.Fuzz(func(t *testing.T, log []byte) {
		report, want := reportBy(t, whole, log)
		checkHonest(t, report, log)
		if _, got := reportBy(t, pieces, log); !bytes.Equal(got, want) {
			t.Error("chunks change the report")
		}
	})
}

func BenchmarkDiagnose(b *testing.B) {
	log, err := os.ReadFile(filepath.Join(casesDir, "sixty-four-ranks", "train.log"))
	if err != nil {
		b.Fatal(err)
	}
	engine := analyzer.New(builtin(), analyzer.Options{})
	file := analyzer.File{Path: "train.log", Data: bytes.NewReader(log), Size: int64(len(log))}
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		if _, err := engine.Diagnose(context.Background(), []analyzer.File{file}); err != nil {
			b.Fatal(err)
		}
	}
}
