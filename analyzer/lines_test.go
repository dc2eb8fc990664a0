package analyzer_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer"
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
