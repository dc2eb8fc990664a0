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

// words breaks a text as a form does: in front of the blank before the word that would
// go beyond the width.
func words(text string, width int) string {
	var out strings.Builder
	for len(text) > width {
		i := strings.LastIndexByte(text[:width+1], ' ')
		out.WriteString(text[:i] + "\n")
		text = text[i:]
	}
	return out.String() + text + "\n"
}

func TestWordWidth(t *testing.T) {
	agent := "W0520 17:31:10.220000 8814 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 8880 closing signal SIGTERM"
	text := words(agent, 96) + words(agent, 96) + words("[rank3]: CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.", 96)
	broken := Layout{Width: 100, Words: true} // the shortest first word that had no room is the " 8880" behind 96 characters
	for _, test := range []struct {
		name, log string
		want      Layout
	}{
		{"a pasted log", "step 1\n" + text, broken},
		{"with prose that is not broken", strings.Repeat("what happened ", 20) + "\n" + text, broken},
		{"most of it is longer", strings.Repeat(strings.Repeat("what happened ", 20)+"\n", 4) + text, Layout{}},
		{"two lines are not enough", words(agent, 96) + words(agent, 96), Layout{}},
		{"lists with one blank", strings.Repeat("> number of parameters on the first pipeline stage, by its tensor ranks:\n a\n b\n", 9), Layout{}},
		{"Megatron's records", strings.Repeat("[rank0]: a line that is long enough to be broken at the width of a window\n [2026-11-18 03:44:10] iteration 1\n", 9), Layout{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Detect([]byte(test.log)); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

func TestGoesOn(t *testing.T) {
	cut, broken := Layout{Width: 80}, Layout{Width: 80, Words: true}
	long := strings.Repeat("x", 80)
	for _, test := range []struct {
		layout       Layout
		before, next string
		want         bool
	}{
		{Layout{}, long, "a", false},
		{cut, long, "a", true},
		{cut, long[1:], "a", false},
		{broken, long, " a", true},
		{broken, long[10:], " 0123456789", true},
		{broken, long[20:], " 0123456789", false}, // it would have had room
		{broken, long, "a", false},
		{broken, long, "  a", false},
		{broken, long + "x", " a", false},
		{broken, long, "[rank0]: a", false},
	} {
		if got := test.layout.GoesOn([]byte(test.before), []byte(test.next)); got != test.want {
			t.Errorf("%+v, %q goes on behind %d characters: %v", test.layout, test.next, len(test.before), got)
		}
	}
}
