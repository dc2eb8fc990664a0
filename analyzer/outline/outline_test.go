package outline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/outline"
)

func read(t testing.TB, src outline.Source) *outline.Outline {
	t.Helper()
	o, err := outline.Read(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// show prints an outline with line numbers from 1.
func show(text string, o *outline.Outline) string {
	number := func(offset int64) int { return strings.Count(text[:offset], "\n") + 1 }
	var b strings.Builder
	for _, f := range o.Folds {
		fmt.Fprintf(&b, "%s %d-%d", [...]string{"traceback", "bar", "repeat", "block"}[f.Kind], number(f.Start), number(f.End-1))
		switch f.Kind {
		case outline.Traceback:
			fmt.Fprintf(&b, " %d frames", f.Frames)
		case outline.Block:
			fmt.Fprintf(&b, " %s", o.Printers[f.Printer].Name)
		default:
			fmt.Fprintf(&b, " x%d", f.Lines)
		}
		b.WriteString("\n")
	}
	for _, f := range o.Frames {
		fmt.Fprintf(&b, "frame %d %q %s:%d in %s: %s", number(f.LineStart), text[f.Start:f.End], f.Path, f.Frame.Line, f.Function, f.Text)
		if f.QuoteEnd > f.QuoteStart {
			fmt.Fprintf(&b, " (line %d)", number(f.QuoteStart))
		}
		b.WriteString("\n")
	}
	return b.String()
}

const traced = `[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/train.py", line 88, in capture
[rank0]:     with torch.cuda.graph(g):
[rank0]:   File "/app/model.py", line 7, in forward
[rank0]:     y = self.a(x)
[rank0]:         ^^^^^^^^^
[rank0]: torch.OutOfMemoryError: CUDA out of memory.
`

func TestParts(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blank lines", strings.Repeat("\n", 50), ""},
		{"prose", "one\ntwo\nthree\nfour\n", ""},
		{"steps", "start\nstep 9 loss 6.91\nstep 10 loss 6.5\nstep 11 loss 1.2e-05\nstep 12 loss -0.1\ndone\n", "repeat 2-5 x4\n"},
		{"three steps are no repetition", "step 9\nstep 10\nstep 11\nend\n", ""},
		{"right-aligned figures", "it     9/  10 | t 1,024\nit    10/  10 | t 99\nit   110/  10 | t 7\nit     9/  10 | t 0x7f\n", "repeat 1-4 x4\n"},
		{"a block of two lines each step", strings.Repeat("it 1 of 10\nmemory: 4 GiB\n", 5) + "end\n", "repeat 1-10 x10\n"},
		{"a block of four lines", "x\n" + strings.Repeat("a\nb\nc\nd\n", 4), "repeat 2-17 x16\n"},
		{"two shapes in a row", strings.Repeat("a 1\n", 5) + strings.Repeat("b 1\n", 5), "repeat 1-5 x5\nrepeat 6-10 x5\n"},
		{"a run that ends in a run", strings.Repeat("a\nb\n", 4) + "b\nb\nb\nb\n", "repeat 1-8 x8\nrepeat 9-12 x4\n"},
		{"blank lines between", strings.Repeat("step 1\n\n", 4), "repeat 1-8 x8\n"},
		{
			"a bar, redrawn on one line", "go\n" + strings.Repeat("Capturing: 10%|█   | 1/10 [00:01<00:09, 1.00it/s]\r", 6) + "\nend\n",
			"bar 2-2 x6\n",
		},
		{
			"a bar, a line each", strings.Repeat("Capturing:  9%|#   | 1/10 [00:01<00:09,  1.00it/s]\n", 3) + strings.Repeat("Capturing: 10%|##   | 2/10 [00:01<00:09, 1.00it/s]\n", 3) + "Loading: 1%|# | 1/2\n",
			"bar 1-6 x6\n",
		},
		{"a few redraws", "10%|#\r20%|##\rend\n", ""},
		{
			"a traceback", traced + "[rank1]: end\n", `block 1-7 rank 0
traceback 1-6 2 frames
frame 2 "File \"/app/train.py\", line 88" /app/train.py:88 in capture: with torch.cuda.graph(g): (line 3)
frame 4 "File \"/app/model.py\", line 7" /app/model.py:7 in forward: y = self.a(x) (line 5)
`,
		},
		{
			"a traceback that another process interrupts",
			strings.Replace(traced, "[rank0]:     with", "[rank1]: step\n[rank0]:     with", 1), `block 4-8 rank 0
traceback 4-7 1 frames
frame 2 "File \"/app/train.py\", line 88" /app/train.py:88 in capture: with torch.cuda.graph(g): (line 4)
frame 5 "File \"/app/model.py\", line 7" /app/model.py:7 in forward: y = self.a(x) (line 6)
`,
		},
		{
			"the log ends in a traceback", strings.SplitAfter(traced, "[rank0]:     y")[0], `traceback 1-5 2 frames
frame 2 "File \"/app/train.py\", line 88" /app/train.py:88 in capture: with torch.cuda.graph(g): (line 3)
frame 4 "File \"/app/model.py\", line 7" /app/model.py:7 in forward: y (line 5)
`,
		},
		{
			"a notebook's", "Traceback (most recent call last)\nFile /opt/torch/optim/adam.py:493, in Adam.step(self)\n    492     beta1 = 0\n--> 493     loss = closure()\nRuntimeError: x\n",
			"traceback 1-4 1 frames\nframe 2 \"/opt/torch/optim/adam.py:493\" /opt/torch/optim/adam.py:493 in Adam.step(self): loss = closure() (line 4)\n",
		},
		{
			"colours", "\x1b[36m(Worker pid=7)\x1b[0m \x1b[31m  File \"/a/b.py\", line 3, in f\x1b[0m\n",
			"frame 1 \"File \\\"/a/b.py\\\", line 3\" /a/b.py:3 in f: \n",
		},
		{
			"blocks", "[rank0]: a\n[rank0]: b\n\n[rank0]: c\n[rank0]: d\n\n[rank1]: a\n[rank1]: b\nlauncher\n", "block 1-5 rank 0\n",
		},
		{
			"one process only", "[rank0]: a\n[rank0]: b\n[rank0]: c\n[rank0]: d\nx\n", "",
		},
		{
			"a repetition within a block", "[rank0]: a\n[rank0]: 1\n[rank0]: 2\n[rank0]: 3\n[rank0]: 4\n[rank0]: b\n[rank1]: c\n", "block 1-6 rank 0\nrepeat 2-5 x4\n",
		},
		{
			"a repetition over two ranks", "[rank0]: a\n[rank0]: b\n[rank0]: c\n[rank0]: d\n[rank0]: up 1\n[rank1]: up 1\n[rank0]: up 2\n[rank1]: up 2\n", "block 1-4 rank 0\nrepeat 5-8 x4\n",
		},
		{
			"the output of a rank, as Composer prints it", "[rank1]: x\n----------Begin global rank 3 STDOUT----------\na\nb\nc\nd\n----------End global rank 3 STDOUT----------\nz\n", "block 3-6 rank 3\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := show(tt.text, read(t, outline.Source{Text: []byte(tt.text)}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALineThatMattersIsInNoRepetition(t *testing.T) {
	text := strings.Repeat("failed 1\n", 9)
	o := read(t, outline.Source{Text: []byte(text), Keep: []int64{4 * 9}})
	if got := show(text, o); got != "repeat 1-4 x4\nrepeat 6-9 x4\n" {
		t.Errorf("got %s", got)
	}
}

func TestWhoPrintedALine(t *testing.T) {
	text := "start\n[rank1]: a\n\n[rank1]: b\n(pid=7) c\nx\n[rank1]: d"
	resolve := func(o incident.Origin) incident.Origin {
		if o.Rank == nil {
			rank := 4
			o.Rank = &rank
		}
		return o
	}
	o := read(t, outline.Source{Text: []byte(text), Resolve: resolve})
	names := []string{"", "rank 1", "rank 1", "rank 1", "rank 4", "", "rank 1"}
	offset := 0
	for i, l := range strings.SplitAfter(text, "\n") {
		for _, at := range []int{offset, offset + len(l) - 1} {
			who := ""
			if p := o.PrinterAt(int64(at)); p >= 0 {
				who = o.Printers[p].Name
			}
			if who != names[i] {
				t.Errorf("line %d, offset %d: %q, want %q", i+1, at, who, names[i])
			}
		}
		offset += len(l)
	}
	if o.PrinterAt(-1) != -1 || o.PrinterAt(int64(len(text))+5) != -1 {
		t.Error("there is a printer outside of the text")
	}
	if first := o.Printers[1].First; *o.Printers[1].Rank != 4 || first != int64(strings.Index(text, "(pid")) {
		t.Errorf("printer %+v", o.Printers[1])
	}
}

func TestLabelsOfALayout(t *testing.T) {
	text := strings.Repeat("0: a\n0: b\n0: c\n0: d\n1: e\n", 2)
	o := read(t, outline.Source{Text: []byte(text), Layout: line.Layout{TaskLabel: true}})
	if got := show(text, o); !strings.HasPrefix(got, "block 1-4 rank 0\n") {
		t.Errorf("got %s", got)
	}
}

func TestAnOutlineIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range outline.MaxPrinters + 5 {
		fmt.Fprintf(&text, "[rank%d]: x\n", i)
	}
	o := read(t, outline.Source{Text: []byte(text.String())})
	if len(o.Printers) != outline.MaxPrinters || len(o.Cut) != 1 || !strings.Contains(o.Cut[0], "printers") {
		t.Errorf("%d printers, cut %q", len(o.Printers), o.Cut)
	}
	frames := strings.Repeat("  File \"/a/b.py\", line 3, in f\n", outline.MaxFrames+2)
	o = read(t, outline.Source{Text: []byte(frames)})
	if len(o.Frames) != outline.MaxFrames || len(o.Cut) != 1 || !strings.Contains(o.Cut[0], "frames") {
		t.Errorf("%d frames, cut %q", len(o.Frames), o.Cut)
	}
	folds := strings.Repeat("a\na\na\na\nb\n", outline.MaxFolds+2)
	o = read(t, outline.Source{Text: []byte(folds)})
	if len(o.Folds) != outline.MaxFolds || len(o.Cut) != 1 || !strings.Contains(o.Cut[0], "parts") {
		t.Errorf("%d folds, cut %q", len(o.Folds), o.Cut)
	}
	turns := strings.Repeat("[rank0]:\n[rank1]:\n", outline.MaxStretches/2+2)
	o = read(t, outline.Source{Text: []byte(turns)})
	if len(o.Stretches) != outline.MaxStretches || len(o.Cut) != 1 || !strings.Contains(o.Cut[0], "changes") {
		t.Errorf("%d stretches, cut %q", len(o.Stretches), o.Cut)
	}
}

// later is a context that ends when it was looked at a number of times.
type later struct {
	context.Context
	left int
}

func (l *later) Err() error {
	if l.left--; l.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestReadingCanBeCancelled and goes on where it was.
func TestReadingCanBeCancelled(t *testing.T) {
	text := long(2 << 20)
	src := outline.Source{Text: text}
	var got *outline.Outline
	tries := 0
	for err := context.Canceled; err != nil; tries++ {
		if tries > 100 {
			t.Fatal("it does not come to an end")
		}
		got, err = outline.Follow(&later{t.Context(), 1}, src, got, int64(len(text)))
		if err != nil && (!errors.Is(err, context.Canceled) || len(got.Stretches) > 0) {
			t.Fatalf("got %v and %d stretches", err, len(got.Stretches))
		}
	}
	if diff := difference(read(t, src), got); tries < 3 || diff != "" {
		t.Errorf("after %d tries (-whole +followed):\n%s", tries, diff)
	}
}

// scramble throws lines together at random.
func scramble(r *rand.Rand) []byte {
	lines := []string{
		"[rank0]: a\n", "[rank1]: a\n", "[rank1]: step 3\n", "b\n", "\n", "x 10%|#\rx 20%|##\rx 30%|##\n",
		"[rank0]: Traceback (most recent call last):\n", "[rank0]:   File \"/a.py\", line 3, in f\n", "[rank0]:     f()\n",
		"[rank0]: ValueError: x\n", "Traceback (most recent call last):\n", "  File \"/b.py\", line 1, in g\n", "    g()\n", "KeyError: 1\n",
		"\xff\xfe\n", "----------Begin global rank 3 STDOUT----------\n", "----------End global rank 3 STDOUT----------\n",
	}
	var text bytes.Buffer
	for range 200 {
		l := lines[r.IntN(len(lines))]
		for range 1 + r.IntN(6) {
			text.WriteString(l)
		}
	}
	return text.Bytes()[:text.Len()-r.IntN(3)]
}

func TestPartsLieWithinEachOther(t *testing.T) {
	for seed := range uint64(100) {
		text := scramble(rand.New(rand.NewPCG(seed, 1)))
		checkParts(t, text, read(t, outline.Source{Text: text}))
	}
}

// TestAFileThatGrows has the same outline as one that was there at once, wherever it
// was cut and whatever becomes known of who is who.
func TestAFileThatGrows(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		text := scramble(r)
		var earlier *outline.Outline
		same := 0
		for end := 0; end < len(text); {
			end = min(len(text), end+1+r.IntN(2500))
			src := outline.Source{Text: text[:end:end], Keep: []int64{int64(r.IntN(end))}}
			if r.IntN(4) == 0 {
				src.Resolve = func(incident.Origin) incident.Origin { return incident.Origin{Host: "all one"} }
			}
			if r.IntN(20) == 0 {
				same = r.IntN(same + 1) // it was edited as well
			}
			got, err := outline.Follow(context.Background(), src, earlier, int64(same))
			if err != nil {
				t.Fatal(err)
			}
			if diff := difference(read(t, src), got); diff != "" {
				t.Fatalf("seed %d, %d of %d bytes (-whole +followed):\n%s", seed, end, len(text), diff)
			}
			earlier, same = got, end
		}
	}
}

// difference tells two outlines apart by what they say.
func difference(want, got *outline.Outline) string {
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(outline.Outline{}, outline.Fold{}))
}

// TestWhatIsKeptServesSeveral who follow it at the same time.
func TestWhatIsKeptServesSeveral(t *testing.T) {
	text := scramble(rand.New(rand.NewPCG(7, 7)))
	earlier := read(t, outline.Source{Text: text[:len(text)/2]})
	want := read(t, outline.Source{Text: text})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := outline.Follow(context.Background(), outline.Source{Text: text}, earlier, int64(len(text)/2))
			if diff := difference(want, got); err != nil || diff != "" {
				t.Errorf("%v (-whole +followed):\n%s", err, diff)
			}
		})
	}
	wg.Wait()
}

// FuzzRead reads whatever comes.
func FuzzRead(f *testing.F) {
	f.Add([]byte(traced))
	f.Add([]byte(strings.Repeat("a 1\r\nb 2\r", 5) + "----------Begin global rank 3 STDOUT----------\nx\n"))
	f.Add([]byte("Traceback (most recent call last)\nFile /a/b.py:3, in f\n----> 3 x\n\x00\xff\x1b[31m"))
	f.Fuzz(func(t *testing.T, text []byte) {
		checkParts(t, text, read(t, outline.Source{Text: text}))
	})
}

func checkParts(t *testing.T, text []byte, o *outline.Outline) {
	t.Helper()
	whole := func(start, end int64) bool {
		return start >= 0 && start < end && end <= int64(len(text)) && (start == 0 || text[start-1] == '\n') &&
			(end == int64(len(text)) || text[end-1] == '\n')
	}
	var around []outline.Fold
	last := outline.Fold{Start: -1}
	for _, f := range o.Folds {
		if !whole(f.Start, f.End) || f.Start < last.Start || f.Start == last.Start && f.End > last.End {
			t.Fatalf("part %+v behind %+v", f, last)
		}
		for len(around) > 0 && around[len(around)-1].End <= f.Start {
			around = around[:len(around)-1]
		}
		if n := len(around); n > 0 && f.End > around[n-1].End {
			t.Fatalf("%+v and %+v cross", f, around[n-1])
		}
		around, last = append(around, f), f
	}
	end := int64(0)
	for _, s := range o.Stretches {
		if !whole(s.Start, s.End) || s.Start < end || s.Printer < 0 || s.Printer >= len(o.Printers) {
			t.Fatalf("stretch %+v", s)
		}
		end = s.End
	}
	for _, f := range o.Frames {
		if f.Start < f.LineStart || f.End > f.LineEnd || f.Start >= f.End {
			t.Fatalf("frame %+v", f)
		}
	}
}

// TestReadingTakesLinearTime on texts that would be slow if anything were read more
// than once.
func TestReadingTakesLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	for name, unit := range map[string]string{
		"steps":       "[rank3]: step 17 loss 6.91\n",
		"tracebacks":  traced,
		"open heads":  "Traceback (most recent call last):\n",
		"blank lines": "\n",
		"bars":        "x 10%|#\rx 20%|##\rx 30%|##\r",
		"periods":     "a\na\nb\na\nb\nb\n",
		"long":        strings.Repeat("x", 1<<16) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(size int) time.Duration {
				best := time.Hour
				text := []byte(strings.Repeat(unit, size/len(unit)+1))
				for range 3 {
					start := time.Now()
					read(t, outline.Source{Text: text})
					best = min(best, time.Since(start))
				}
				return best
			}
			small, large := cost(1<<15), cost(1<<18)
			if large > 8*4*max(small, time.Millisecond) {
				t.Errorf("%v for 32 KiB, %v for 256 KiB", small, large)
			}
		})
	}
}

func BenchmarkFollow(b *testing.B) {
	text := long(40 << 20)
	earlier := read(b, outline.Source{Text: text})
	longer := append(slices.Clip(text), "[rank3]: one line more\n"...)
	for b.Loop() {
		if _, err := outline.Follow(context.Background(), outline.Source{Text: longer}, earlier, int64(len(text))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	text := long(8 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		read(b, outline.Source{Text: text})
	}
}

// long is the log of 64 ranks that print in turn.
func long(size int) []byte {
	var text strings.Builder
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, "[rank%d]: 2026-11-30 01:02:03,456 INFO iteration %d/100000 loss 6.%d lr 1.0e-05 memory (GB) 41.2\n", i%64, i, i%100)
		if i%1000 == 999 {
			text.WriteString(traced)
		}
	}
	return []byte(text.String())
}
