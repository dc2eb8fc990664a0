package scan_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// anchors are of all lengths that the finder treats differently: too short to
// count, short, long, and one that another one ends with.
var anchors = scan.Anchors{
	Vital: []string{
		"rank", "Killed", "ut of memory. Tried", "CUDA out of memory. Tried to allocate",
		"Traceback (most recent call last)", `", line `, "Watchdog caught collective operation timeout", "NVRM: Xid (",
	},
	Ordinary: []string{"reserved", "avail mem", "Killed"},
}

// scanned reads a text with a chunk size and a number of workers.
func scanned(t testing.TB, text string, chunk, workers int) *scan.Result {
	t.Helper()
	s := scan.New(anchors)
	s.Chunk, s.Workers = chunk, workers
	r, err := s.Scan(context.Background(), strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// naive is what a scan must find, line by line.
func naive(text string) *scan.Result {
	r := &scan.Result{}
	type tally struct {
		list  []scan.Seen
		index map[string]int
	}
	add := func(t *tally, o incident.Origin, n int64) {
		nameless := o
		nameless.Stream, nameless.RankFrom = "", ""
		key := cmp.Diff(incident.Origin{}, nameless)
		if t.index == nil {
			t.index = map[string]int{}
		}
		i, ok := t.index[key]
		if !ok {
			i = len(t.list)
			t.index[key] = i
			t.list = append(t.list, scan.Seen{Origin: o, First: n})
		}
		t.list[i].Lines++
		t.list[i].Last = n
	}
	r.Layout = line.Detect([]byte(text))
	var printers tally
	offset := int64(0)
	for l := range strings.Lines(text) {
		r.Lines++
		bare := strings.TrimSuffix(l, "\n")
		for _, a := range slices.Concat(anchors.Vital, anchors.Ordinary) {
			if len(a) > 4 && strings.Contains(bare, a) {
				r.Hits = append(r.Hits, scan.Hit{Line: r.Lines, Offset: offset})
				break
			}
		}
		offset += int64(len(l))
		head := bare[:min(len(bare), 192)]
		if strings.TrimRight(head, "\r ") == "" {
			continue
		}
		var o incident.Origin
		for _, p := range line.Decode([]byte(head), r.Layout) {
			if o = p.Origin; o.Known() {
				break
			}
		}
		if o.Known() {
			add(&printers, o, r.Lines)
		} else {
			r.WithoutOrigin++
		}
	}
	r.Printers = printers.list
	return r
}

// same compares what two scans found.
func same(want, got *scan.Result) string {
	return cmp.Diff(want, got, cmp.Comparer(func(a, b incident.Origin) bool {
		a.Stream, b.Stream = "", "" // no part of who printed a line
		return reflect.DeepEqual(a, b)
	}))
}

// logs draws logs: prefixes, anchors whole and cut, long lines, all ends of lines.
func logs() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		"[rank3]: ", "[rank3]:", "[rank0]: ", "node-3: ", "node-4: ", "trainer-3 pytorch ", "[default1]:", "(Worker_TP2 pid=143) ", "(raylet) ", "3: ", " 12: ", "[0]: ", "2: [rank2]: ", "[0] ", "[1] [rank1]: ", "x1c0 3: ",
		"gpu-a02:4054:4910 [4] NCCL INFO ", "trainer-1  | ", "[W1]: ", "10%|# | 1/9 [00:01<00:09, 1.0it/s]", "a [b]: ", "a) ",
		"CUDA out of memory. Tried to allocate 2.00 GiB", "CUDA out of memory. Trie", "ut of memory. Tried", "Killed", "Kil", "led", "rank",
		"Traceback (most recent call last):", `File "a.py", line 1, in f`, "Watchdog caught collective operation timeout",
		"x", " ", "é", "\x00", "\xff", "\x1b[36m", "step 12 loss 1.23", strings.Repeat("y", 200), "\r",
	})
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\n\n", "", "\r"})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			for range rapid.IntRange(0, 4).Draw(t, "parts") {
				b.WriteString(part.Draw(t, "part"))
			}
			b.WriteString(end.Draw(t, "end"))
		}
		return b.String()
	})
}

// The same bytes give the same result, for any chunk size and number of workers.
func TestScanIsTheNaiveScan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := logs().Draw(rt, "log")
		want := naive(text)
		chunk := rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1, 1<<12)).Draw(rt, "chunk")
		got := scanned(t, text, chunk, rapid.IntRange(1, 4).Draw(rt, "workers"))
		if diff := same(want, got); diff != "" {
			rt.Fatalf("%q in chunks of %d: %s", text, chunk, diff)
		}
	})
}

func FuzzScan(f *testing.F) {
	f.Add("[rank3]: CUDA out of memory. Tried to allocate\n(Worker pid=3) Killed\r\n\n3: x", uint16(7))
	f.Add("", uint16(1))
	f.Add("[rank0]: x\n[rank0]: node-00:41200:41500 [0] NCCL INFO x\n[rank0]: y", uint16(11))
	f.Add("0: a\n1: b\n1: c\n\nx", uint16(3))
	f.Fuzz(func(t *testing.T, text string, chunk uint16) {
		if diff := same(naive(text), scanned(t, text, int(chunk)+1, 2)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestScan(t *testing.T) {
	tests := []struct {
		name, text string
		lines      int64
		hits       []scan.Hit
	}{
		{"empty", "", 0, nil},
		{"one line without LF", "CUDA out of memory. Tried to allocate 2.00 GiB", 1, []scan.Hit{{Line: 1, Offset: 0}}},
		{"the last line without LF", "x\nKilled", 2, []scan.Hit{{Line: 2, Offset: 2}}},
		{"CRLF", "x\r\nKilled\r\n", 2, []scan.Hit{{Line: 2, Offset: 3}}},
		{"a lone CR ends no line", "x\rKilled\rKilled\n", 1, []scan.Hit{{Line: 1, Offset: 0}}},
		{"two anchors on one line", "Killed, reserved\n", 1, []scan.Hit{{Line: 1, Offset: 0}}},
		{"an anchor over two lines is none", "CUDA out of memory. Tried\n to allocate", 2, []scan.Hit{{Line: 1, Offset: 0}}},
		{"cut anchors", "Kille\nd Killed\nKille", 3, []scan.Hit{{Line: 2, Offset: 6}}},
		{"anchors under five bytes do not count", "rank rank\n", 1, nil},
		{"only LF", "\n\n\n", 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, chunk := range []int{1, 2, 3, 7, 64, 1 << 20} {
				got := scanned(t, tt.text, chunk, 2)
				if got.Lines != tt.lines || !cmp.Equal(got.Hits, tt.hits) {
					t.Errorf("chunks of %d: %d lines, hits %v", chunk, got.Lines, got.Hits)
				}
			}
		})
	}
}

// An anchor across a chunk's edge is found once, at every place of the edge.
func TestAnchorAcrossChunks(t *testing.T) {
	text := "a\n" + strings.Repeat("b", 50) + "CUDA out of memory. Tried to allocate" + strings.Repeat("c", 50) + "\nd\n"
	for chunk := 1; chunk < len(text); chunk++ {
		got := scanned(t, text, chunk, 1)
		if want := []scan.Hit{{Line: 2, Offset: 2}}; !cmp.Equal(got.Hits, want) {
			t.Fatalf("chunks of %d: %v", chunk, got.Hits)
		}
	}
}

// A line longer than many chunks is one line, hit once.
func TestLineLongerThanChunks(t *testing.T) {
	long := strings.Repeat("x", 5000) + "Killed" + strings.Repeat("y", 5000) + "Killed"
	got := scanned(t, "a\n"+long+"\nKilled\n", 1000, 4)
	if want := []scan.Hit{{Line: 2, Offset: 2}, {Line: 3, Offset: int64(3 + len(long))}}; !cmp.Equal(got.Hits, want) || got.Lines != 3 {
		t.Errorf("%d lines, %v", got.Lines, got.Hits)
	}
}

func TestPrinters(t *testing.T) {
	text := "[rank0]: a\nfree\n\n[rank1]: b\n   \n[rank0]: c\n(Worker_TP2 pid=143) d\n"
	got := scanned(t, text, 16, 2)
	zero, one, pid := 0, 1, 143
	want := []scan.Seen{
		{Origin: incident.Origin{Rank: &zero, RankFrom: "outer prefix"}, Lines: 2, First: 1, Last: 6},
		{Origin: incident.Origin{Rank: &one, RankFrom: "outer prefix"}, Lines: 1, First: 4, Last: 4},
		{Origin: incident.Origin{Process: "Worker_TP2", PID: &pid}, Lines: 1, First: 7, Last: 7},
	}
	if diff := cmp.Diff(want, got.Printers); diff != "" {
		t.Error(diff)
	}
	if got.WithoutOrigin != 1 {
		t.Errorf("%d lines without origin; blank lines do not count", got.WithoutOrigin)
	}
}

// What follows a prefix may be a prefix too, on some lines and not on others.
func TestPrinterDoesNotDependOnTheLineBefore(t *testing.T) {
	plain, nccl := "[rank0]: step 1\n", "[rank0]: node-00:41200:41500 [0] NCCL INFO Bootstrap: x\n"
	for _, text := range []string{plain + nccl, nccl + plain, plain + plain + nccl + nccl} {
		got := scanned(t, text, 1<<20, 1)
		if diff := same(naive(text), got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// Behind a prefix that lines repeat may stand what names a printer, and what only looks so.
func TestPrintersBehindARepeatedPrefix(t *testing.T) {
	behind := []string{
		"2026-11-28 04:13:22,150 | INFO | dataloader.py:188 | bucket 7 flushed",
		"2026-11-28 04:13:22,150 | INFO | trainer-1 | step 12",
		"2026-11-28 04:13:22,150 | trainer-2  | step 12",
		"node-00:41200:41500 [0] NCCL INFO Channel 26/0 : 6[6] -> 7[7] via NET/IB/4",
		"node-00:41200:41500 [0] NCCL INFO Bootstrap: x | y-1 | z",
		"node-00:41207:41500 [1] enqueue.cc:1024 NCCL WARN Cuda failure",
		"node-00:41207 [1] NCCL INFO no thread",
		"node-00:41207:x [1] NCCL INFO no thread",
		"the line \"node-00:41207:41500 [1] NCCL INFO \" is quoted",
		"bar 50%|##\rnode-01:41207:41500 [1] NCCL INFO x",
	}
	var text strings.Builder
	for range 2 {
		for _, front := range []string{"", "[default1]:", "[rank3]: ", "(Worker_TP2 pid=143) "} {
			for _, b := range behind {
				text.WriteString(front + b + "\n")
			}
		}
	}
	if diff := same(naive(text.String()), scanned(t, text.String(), 1<<20, 1)); diff != "" {
		t.Error(diff)
	}
}

// Ambiguous labels count from the first line to the last of a file.
func TestLayoutOfTheFile(t *testing.T) {
	tests := []struct {
		name, text string
		layout     line.Layout
		printers   int
	}{
		{"srun --label", "0: a\n1: b\n0: c\nsrun: error: cn-24: task 1: Out Of Memory\n", line.Layout{TaskLabel: true}, 2},
		{"pdsh", "node-1: a\nnode-2: b\nnode-1: c\n", line.Layout{HostLabel: true}, 2},
		{"a numbered list in a log", "a\nb\nc\n1: d\n2: e\n", line.Layout{}, 0},
	}
	for _, tt := range tests {
		got := scanned(t, tt.text, 8, 2)
		if got.Layout != tt.layout || len(got.Printers) != tt.printers {
			t.Errorf("%s: %+v, printers %+v", tt.name, got.Layout, got.Printers)
		}
	}
}

// Of a log that grows the layout is told once, but from all of its start.
func TestLayoutOfALogThatGrows(t *testing.T) {
	plain := strings.Repeat("step 12 loss 6.9\n", line.DetectBytes/40)
	labelled := strings.Repeat("0: a\n1: b\n", line.DetectBytes/8)
	s := scan.New(anchors)
	s.Chunk = 64 << 10
	var earlier *scan.Kept
	unchanged := 0
	for _, text := range []string{plain, plain + labelled, plain + labelled + labelled, labelled + labelled} {
		want, err := s.Scan(context.Background(), strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		var got *scan.Result
		got, earlier, err = s.Follow(context.Background(), strings.NewReader(text), int64(len(text)), earlier, int64(unchanged))
		if err != nil {
			t.Fatal(err)
		}
		if diff := same(want, got); diff != "" {
			t.Error(diff)
		}
		unchanged = len(text)
		if text == plain+labelled+labelled {
			unchanged = 0 // the next one starts otherwise
		}
	}
}

// shortReader gives at most three bytes at a time, and no error with them.
type shortReader struct{ text string }

func (r shortReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(r.text)) {
		return 0, io.EOF
	}
	return copy(p[:min(len(p), 3)], r.text[off:]), nil
}

func TestShortReads(t *testing.T) {
	text := strings.Repeat("[rank1]: CUDA out of memory. Tried to allocate 2.00 GiB\nstep 3\n", 20)
	s := scan.New(anchors)
	s.Chunk = 100
	got, err := s.Scan(context.Background(), shortReader{text}, int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := same(naive(text), got); diff != "" {
		t.Error(diff)
	}
	var lines int
	if err := scan.Walk(context.Background(), shortReader{text}, int64(len(text)), got.Hits, func(scan.Raw) bool { lines++; return false }); err != nil || lines != 20 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

type failingReader struct{ err error }

func (r failingReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }

func TestReadErrorIsReported(t *testing.T) {
	broken := errors.New("input/output error")
	_, err := scan.New(anchors).Scan(context.Background(), failingReader{broken}, 100)
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	err = scan.Walk(context.Background(), failingReader{broken}, 100, []scan.Hit{{Line: 1}}, func(scan.Raw) bool { return false })
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// A log may be cut while it is read: what is left is scanned.
func TestFileCutWhileRead(t *testing.T) {
	text := "Killed\nx\n"
	s := scan.New(anchors)
	s.Chunk = 4
	got, err := s.Scan(context.Background(), strings.NewReader(text), 1000)
	if err != nil || len(got.Hits) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := scan.New(anchors).Scan(ctx, strings.NewReader("x"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Scan: %v", err)
	}
	err := scan.Walk(ctx, strings.NewReader("x"), 1, []scan.Hit{{Line: 1}}, func(scan.Raw) bool { return false })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Walk: %v", err)
	}
}

// generated is a log of a size, one line in a hundred with an anchor.
func generated(size int) []byte {
	var b bytes.Buffer
	for n := 0; b.Len() < size; n++ {
		if n%100 == 0 {
			b.WriteString("[rank1]: step 100 | reserved 12.40 GiB | allocated 9.10 GiB | graphs held 3\n")
			continue
		}
		b.WriteString("[rank3]: 2026-11-28 04:13:22,150 INFO train.py:188 step 100/4120 loss 1.7204 lr 3.0e-4 grad norm 0.81 tokens/s 18211 mfu 0.41\n")
	}
	return b.Bytes()[:size]
}

func BenchmarkScan(b *testing.B) {
	data := generated(64 << 20)
	b.SetBytes(int64(len(data)))
	s := scan.New(anchors)
	for b.Loop() {
		if _, err := s.Scan(context.Background(), bytes.NewReader(data), int64(len(data))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanOneWorker(b *testing.B) {
	data := generated(64 << 20)
	b.SetBytes(int64(len(data)))
	s := scan.New(anchors)
	s.Workers = 1
	for b.Loop() {
		if _, err := s.Scan(context.Background(), bytes.NewReader(data), int64(len(data))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	data := generated(64 << 20)
	r, err := scan.New(anchors).Scan(context.Background(), bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := scan.Walk(context.Background(), bytes.NewReader(data), int64(len(data)), r.Hits, func(scan.Raw) bool { return false }); err != nil {
			b.Fatal(err)
		}
	}
}
