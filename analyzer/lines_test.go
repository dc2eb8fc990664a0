package analyzer_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
)

// Any line is decoded, also one that the verdict does not speak of, by what the
// whole log says of who is who.
func TestLine(t *testing.T) {
	log, err := os.ReadFile(filepath.Join(casesDir, "ray-train-thirty-two-segfault-known-by-pid-and-ip", "log.txt"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := defaultAnalyzer().Diagnose(context.Background(), []analyzer.File{{Path: "log.txt", Data: bytes.NewReader(log), Size: int64(len(log))}})
	if err != nil {
		t.Fatal(err)
	}
	offset := int64(0)
	number := int64(0)
	seen := map[int64]string{}
	for raw := range bytes.Lines(log) {
		number++
		for _, l := range a.Line(0, bytes.TrimSuffix(raw, []byte("\n")), number, offset) {
			var says []string
			for _, m := range l.Messages {
				says = append(says, m.ID+": "+m.Says)
			}
			seen[number] = l.Origin.Name() + " | " + strings.Join(says, "; ")
			if l.Text.Line != number || l.Text.Offset < offset || l.Text.EndOffset > offset+int64(len(raw)) {
				t.Errorf("line %d is located at %+v", number, l.Text)
			}
		}
		offset += int64(len(raw))
	}
	for number, want := range map[int64]string{
		63: "rank 21 | ",
		71: "rank 21 | python-segfault: ",
		10: "TorchTrainer pid 41402 | ray-train-worker: Process 41520 on 10.77.3.11 is rank 0 of the training, local rank 0.",
	} {
		if !strings.HasPrefix(seen[number], want) {
			t.Errorf("line %d: %q, want %q", number, seen[number], want)
		}
	}
	if got := a.Line(7, []byte("x"), 1, 0); got != nil {
		t.Errorf("a file that was not read: %v", got)
	}
}

// FuzzLine: whatever stands in a log, its lines are decoded without a panic, into
// places on the line, and can be told of.
func FuzzLine(f *testing.F) {
	dirs, err := filepath.Glob(filepath.Join(casesDir, "*", "log.txt"))
	if err != nil || len(dirs) == 0 {
		f.Fatal(err)
	}
	for _, name := range dirs {
		log, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(log[:min(len(log), 2<<10)])
	}
	f.Add([]byte("{\"log\":\"\\u001b[31m[rank1]: x\\u001b[0m\\n\"}\n10%|\r\r20%|\x1b[\x00"))
	f.Fuzz(func(t *testing.T, log []byte) {
		a, err := defaultAnalyzer().Diagnose(context.Background(), []analyzer.File{{Path: "log.txt", Data: bytes.NewReader(log), Size: int64(len(log))}})
		if err != nil {
			t.Fatal(err)
		}
		offset, number := int64(0), int64(0)
		for raw := range bytes.Lines(log) {
			number++
			end := offset + int64(len(raw))
			for _, l := range a.Line(0, bytes.TrimSuffix(raw, []byte("\n")), number, offset) {
				for _, at := range []incident.Stretch{l.Who, l.When, {Offset: l.Text.Offset, EndOffset: l.Text.EndOffset}} {
					if at.Offset < offset || at.EndOffset < at.Offset || at.EndOffset > end {
						t.Fatalf("line %d of %d to %d has %+v", number, offset, end, at)
					}
				}
				for _, plain := range []bool{false, true} {
					text, ok := render.Line(&l, render.LineOptions{Plain: plain})
					if ok != (len(l.Messages) > 0) || strings.Count(text, "\n") >= 15 {
						t.Fatalf("line %d: ok %v, %q", number, ok, text)
					}
				}
			}
			offset = end
		}
	})
}
