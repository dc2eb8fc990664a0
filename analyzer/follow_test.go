package analyzer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphtrap/graphtrap/analyzer"
)

// versions are the texts of a log that is being written: it grows by lines, by
// parts of lines, and now and then changes before its end.
func versions(rng *rand.Rand, log []byte, n int) (texts [][]byte, same []int64) {
	var cuts []int
	for range n {
		cut := rng.IntN(len(log) + 1)
		if i := bytes.IndexByte(log[cut:], '\n'); i >= 0 && rng.IntN(3) > 0 {
			cut += i + rng.IntN(2)
		}
		cuts = append(cuts, cut)
	}
	slices.Sort(cuts)
	var last []byte
	for _, cut := range append(cuts, len(log)) {
		text := log[:cut]
		if rng.IntN(6) == 0 { // it was rewritten from somewhere on
			text = slices.Concat(text[:rng.IntN(len(text)+1)], []byte("\n[rank3]: step 12\n"), text[rng.IntN(len(text)+1):])
		}
		n := 0
		for n < len(text) && n < len(last) && text[n] == last[n] {
			n++
		}
		if n > 0 && rng.IntN(4) == 0 {
			n -= rng.IntN(n) // whoever follows need not know all
		}
		texts, same, last = append(texts, text), append(same, int64(n)), text
	}
	return texts, same
}

// TestFollowing: an analysis that goes on from the one before gives the same report,
// whatever was kept.
func TestFollowing(t *testing.T) {
	logs, err := filepath.Glob("../testdata/cases/*/*.*g")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("../testdata/cases/*/log.txt")
	if logs = append(logs, more...); len(logs) < 30 {
		t.Fatalf("only %d logs", len(logs))
	}
	for i, path := range logs {
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && (i%4 > 0 || len(log) > 100<<10) {
			continue
		}
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(i), 5))
			rounds := 6
			if len(log) > 100<<10 {
				rounds = 2
			}
			chunk := 256 << rng.IntN(6)
			full := analyzer.New(builtin(), analyzer.Options{Chunk: chunk})
			var earlier *analyzer.Analysis
			texts, same := versions(rng, log, rounds)
			for v, text := range texts {
				_, want := reportBy(t, full, text)
				file := analyzer.File{Path: "log.txt", Data: bytes.NewReader(text), Size: int64(len(text))}
				a, err := full.Following(earlier, same[v]).Diagnose(context.Background(), []analyzer.File{file})
				if err != nil {
					t.Fatal(err)
				}
				got, err := json.Marshal(a.Report)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(want, got) {
					t.Fatalf("version %d of %d bytes, %d the same, chunks of %d: the report differs (-want +got):\n%s",
						v, len(text), same[v], chunk, cmp.Diff(indent(want), indent(got)))
				}
				earlier = a
				// What was kept must not change with what is made of it.
				_, _ = full.Following(a, int64(len(text))).Diagnose(context.Background(), []analyzer.File{file})
			}
		})
	}
}

func indent(b []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, b, "", " ") != nil {
		return string(b)
	}
	return out.String()
}

// TestFollowingReadsOnlyWhatIsNew of a long log.
func TestFollowingReadsOnlyWhatIsNew(t *testing.T) {
	line := "[rank0]: iteration 12 | memory (MB) | allocated: 31013.5 | reserved: 33013.2\n"
	log := []byte(strings.Repeat(line, 20_000))
	const chunk = 16 << 10
	engine := analyzer.New(builtin(), analyzer.Options{Chunk: chunk})
	counted := &countingReader{data: bytes.NewReader(log)}
	first, err := engine.Following(nil, 0).Diagnose(context.Background(), []analyzer.File{{Path: "x", Data: counted, Size: int64(len(log))}})
	if err != nil {
		t.Fatal(err)
	}
	grown := append(log, line...)
	counted = &countingReader{data: bytes.NewReader(grown)}
	if _, err := engine.Following(first, int64(len(log))).Diagnose(context.Background(), []analyzer.File{{Path: "x", Data: counted, Size: int64(len(grown))}}); err != nil {
		t.Fatal(err)
	}
	// The start, for its layout, and about two chunks for each of the two passes.
	if limit := int64(256<<10 + 8*chunk); counted.bytes.Load() > limit {
		t.Errorf("%d bytes were read of %d, want at most %d", counted.bytes.Load(), len(grown), limit)
	}
}

// countingReader counts the bytes that are asked for.
type countingReader struct {
	data  *bytes.Reader
	bytes atomic.Int64
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	r.bytes.Add(int64(len(p)))
	return r.data.ReadAt(p, off)
}
