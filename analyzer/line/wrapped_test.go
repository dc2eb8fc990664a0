package line

import (
	"strings"
	"testing"
)

func TestCutWidth(t *testing.T) {
	prose := "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. "
	cut := func(text string, width int) string {
		var out strings.Builder
		for ; len(text) > width; text = text[width:] {
			out.WriteString(text[:width] + "\n")
		}
		return out.String() + text + "\n"
	}
	for _, test := range []struct {
		name string
		log  string
		want int
	}{
		{"a message that a window cut", "step 1\n" + cut(strings.Repeat(prose, 4), 71) + "step 2\n", 71},
		{"whole lines", strings.Repeat(prose, 4) + "\nstep 2\n" + prose + "\n", 0},
		{"equally long lines that begin alike", strings.Repeat("epoch of the second training stage, with all losses within bounds, done\n", 20), 0},
		{"equally long records", strings.Repeat("2026-11-30 08:00:00 the step took as long as every other one so far did\n", 20), 0},
		{"too narrow to be a window", cut(strings.Repeat(prose, 4), 40), 0},
		{"empty", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Detect([]byte(test.log)).Width; got != test.want {
				t.Errorf("the width is %d, want %d", got, test.want)
			}
		})
	}
}

func TestContinues(t *testing.T) {
	before := []byte(strings.Repeat("x", 80))
	for next, want := range map[string]bool{
		"s a NCCL/CUDA API hang":            true,
		"closing signal SIGTERM":            true,
		"":                                  false,
		"[rank3]: Traceback":                false,
		"2026-11-30 08:00:00 INFO next":     false,
		"Traceback (most recent call last)": false,
		"  File \"a.py\", line 3, in f":     false,
		"    loss.item()":                   false,
	} {
		if got := Continues(before, []byte(next)); got != want {
			t.Errorf("%q goes on: %v, want %v", next, got, want)
		}
	}
}
