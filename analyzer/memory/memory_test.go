package memory

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

const eps = 0.005 // half of the last digit of "2.50 GiB"

func gib(x float64) int64 { return int64(math.Round(x * GiB)) }

func TestParseSize(t *testing.T) {
	tests := []struct {
		text             string
		bytes, low, high int64
	}{
		{"2.50 GiB", gib(2.5), gib(2.5 - eps), gib(2.5 + eps)},
		{"31.2gb", gib(31.2), gib(31.15), gib(31.25)}, // Megatron's GB counts GiB
		{"2.3511 GB", gib(2.3511), gib(2.35105), gib(2.35115)},
		{"16 GB", gib(16), gib(15.5), gib(16.5)},
		{"1.00 MiB", MiB, 1043333, 1053819},
		{"512.19 MiB", 537070141, 537064899, 537075384},
		{"64.00 KiB", 65536, 65531, 65541},
		{"1000 bytes", 1000, 1000, 1000}, // not rounded
		{"0 bytes", 0, 0, 0},
		{"0.00 GiB", 0, 0, gib(eps)}, // never below zero
		{"-41.07 GiB", -gib(41.07), -gib(41.075), -gib(41.065)},
		{"1.50 TiB", 3 * TiB / 2, int64(math.Round(1.495 * TiB)), int64(math.Round(1.505 * TiB))},
		{"  2.00 GiB ", gib(2), gib(1.995), gib(2.005)},
	}
	for _, tt := range tests {
		got, ok := ParseSize(tt.text)
		if want := (incident.Size{Bytes: tt.bytes, Low: tt.low, High: tt.high}); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", tt.text, got, ok, want)
		}
	}
}

func TestNoSize(t *testing.T) {
	for _, text := range []string{
		"17179869184.00 GiB", // an unsigned subtraction below zero
		"16777216.00 TiB", "0 EB", "", "GiB", "2.00", "2.00 apples", "two GiB", "1.2.3 GiB", "--1 GiB", "1e3 GiB", "NaN GiB", "Inf bytes", "- GiB", ". GiB",
		"99999999999999999999999999999999 GiB",
	} {
		if got, ok := ParseSize(text); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestScale(t *testing.T) {
	got, ok := Scale("41205.87", MiB)
	want := incident.Size{Bytes: 43207486341, Low: 43207481098, High: 43207491584}
	if !ok || got != want {
		t.Errorf("%+v %v, want %+v", got, ok, want)
	}
	if _, ok := Scale("x", MiB); ok {
		t.Error("no number")
	}
}

func TestFormat(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 bytes", 512: "512 bytes", 1 << 10: "1.00 KiB", 3 << 19: "1.50 MiB", 5 << 29: "2.50 GiB", -5 << 29: "-2.50 GiB", 2 << 40: "2048.00 GiB",
	} {
		if got := Format(bytes); got != want {
			t.Errorf("Format(%d) = %q, want %q", bytes, got, want)
		}
	}
}

// Arithmetic on rounded sizes keeps every value that they may stand for.
func TestIntervals(t *testing.T) {
	a, b := incident.Size{Bytes: 10, Low: 9, High: 12}, incident.Size{Bytes: 4, Low: 3, High: 5}
	for name, tt := range map[string]struct{ got, want incident.Size }{
		"sum":        {Add(a, b), incident.Size{Bytes: 14, Low: 12, High: 17}},
		"difference": {Sub(a, b), incident.Size{Bytes: 6, Low: 4, High: 9}},
		"half":       {Times(a, 0.5), incident.Size{Bytes: 5, Low: 5, High: 6}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, tt.got, tt.want)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"2.50 GiB", "0 bytes", "31.2gb", "17179869184.00 GiB", "-1 MiB", "..", "1.GiB", "0EB", "0.0000000000000000000001 TiB", "00000000000000000000000001 GB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := ParseSize(text)
		if !ok {
			return
		}
		if s.Low > s.Bytes || s.Bytes > s.High || s.High > 2*MaxSize || s.Low < -2*MaxSize {
			t.Fatalf("%q: %+v", text, s)
		}
		again, ok := ParseSize(Format(s.Bytes))
		if !ok || again.Low > s.Bytes || again.High < s.Bytes {
			t.Fatalf("%q is %d bytes, printed as %q and read as %+v", text, s.Bytes, Format(s.Bytes), again)
		}
	})
}

// sizes makes facts of sizes; "" is an absent one.
func sizes(named map[string]string) map[string]incident.Fact {
	facts := map[string]incident.Fact{}
	for name, text := range named {
		s, ok := ParseSize(text)
		if !ok {
			panic(text)
		}
		facts[name] = incident.Fact{Kind: incident.KindSize, Text: text, Size: s}
	}
	return facts
}

func TestDerive(t *testing.T) {
	const current, old = "torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError"
	tests := []struct {
		name, exception string
		facts           map[string]string
		want            map[string]string // derived, as PyTorch prints sizes; "-" is absent
	}{
		{"all clauses", current,
			map[string]string{"allocated": "74.01 GiB", "private_pools": "41.30 GiB", "unallocated": "2.21 GiB"},
			map[string]string{"reserved": "76.22 GiB", "live": "32.71 GiB", "private_pools": "41.30 GiB"}},
		{"no pool clause in a release that prints it: pools hold nothing idle", current,
			map[string]string{"allocated": "77.10 GiB", "unallocated": "120.00 MiB"},
			map[string]string{"private_pools": "0 bytes", "live": "77.10 GiB", "reserved": "77.22 GiB"}},
		{"no pool clause in a release that may not know it: not known", old,
			map[string]string{"allocated": "77.10 GiB", "unallocated": "120.00 MiB"},
			map[string]string{"private_pools": "-", "live": "-", "reserved": "77.22 GiB"}},
		{"the name in IPython tells no release", "OutOfMemoryError",
			map[string]string{"allocated": "77.10 GiB", "unallocated": "120.00 MiB"},
			map[string]string{"private_pools": "-", "live": "-"}},
		{"torch 2.0: reserved in total", "RuntimeError",
			map[string]string{"allocated": "14.02 GiB", "total_reserved": "14.44 GiB"},
			map[string]string{"reserved": "14.44 GiB", "private_pools": "-", "live": "14.02 GiB"}},
		{"a message cut short: nothing follows", current,
			map[string]string{"requested": "2.00 GiB"},
			map[string]string{"reserved": "-", "live": "-", "private_pools": "-"}},
		{"cut behind the pools", current,
			map[string]string{"allocated": "74.01 GiB", "private_pools": "41.30 GiB"},
			map[string]string{"reserved": "-", "live": "32.71 GiB"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := sizes(tt.facts)
			Derive(facts, tt.exception)
			for name, want := range tt.want {
				f, ok := facts[name]
				got := "-"
				if ok {
					got = Format(f.Size.Bytes)
				}
				if got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
				if f.Size.Low > f.Size.Bytes || f.Size.High < f.Size.Bytes {
					t.Errorf("%s: %+v", name, f.Size)
				}
			}
		})
	}
}

func TestException(t *testing.T) {
	for text, want := range map[string]string{
		"torch.OutOfMemoryError: CUDA out of memory. Tried":       "torch.OutOfMemoryError",
		"CUDA out of memory. Tried to allocate 2.00 GiB":          "",
		"Exception in worker: CUDA out of memory. Tried":          "",
		"OutOfMemoryError('CUDA out of memory. Tried: to alloc')": "",
		"": "",
	} {
		if got := Exception(text); got != want {
			t.Errorf("Exception(%q) = %q, want %q", text, got, want)
		}
	}
}

// placed is a decoded line of a log.
func placed(raw string, n int) line.Placed {
	p := line.Decode([]byte(raw), line.Layout{})
	return line.Placed{Piece: p[len(p)-1], Path: "x.log", Number: int64(n), Start: int64(1000 * n), Length: len(raw)}
}

func TestRead(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"Megatron", "[Rank 8] (after 1 iterations) memory (MB) | allocated: 41205.87 | max allocated: 55873.02 | reserved: 57344.0 | max reserved: 57344.0",
			"allocated 40.24 GiB, reserved 56.00 GiB"},
		{"Megatron Bridge", "memory (GB) | mem-allocated-gigabytes: 41.2 | mem-active-gigabytes: 41.3 | mem-inactive-gigabytes: 1.0 | mem-reserved-gigabytes: 57.5 | mem-alloc-retires: 0",
			"allocated 41.20 GiB, reserved 57.50 GiB"},
		{"hand-written, at captures", "[graphs] captured signature (4, 3, 320, 320) in 0.76s | reserved 7.8 GiB | allocated 3.5 GiB | graphs held 2",
			"reserved 7.80 GiB captured, allocated 3.50 GiB captured"},
		{"hand-written, graphs counted", "graph entry 12/96 layer=06 kind=attn reserved= 36.80 GiB allocated= 31.16 GiB",
			"reserved 36.80 GiB captured, allocated 31.16 GiB captured"},
		{"hand-written, at steps", "step 64 seq_len= 704 reserved=42110 MB", "reserved 41.12 GiB"},
		{"hand-written, graphs with a sign", "step=12 cuda alloc=52.31 GiB reserved=62.50 GiB graphs=6", "allocated 52.31 GiB captured, reserved 62.50 GiB captured"},
		{"a call", "torch.cuda.memory_reserved()=19.9 GiB torch.cuda.memory_allocated()=7.25 GiB", "reserved 19.90 GiB, allocated 7.25 GiB"},
		{"the peak is no level", "max_memory_reserved=80.0 GiB memory_reserved=40.0 GiB", "reserved 40.00 GiB"},
		{"tqdm of Megatron's local graphs", "create cuda graphs | mem: alloc 1.2 gb, res 3.4 gb:  50%|#####     | 12/24 [00:01<00:01, 11.9it/s]",
			"allocated 1.20 GiB, reserved 3.40 GiB"},
		{"SGLang, before the capture", "[2026-10-30 07:03:54 TP6] Capture cuda graph begin. This can take up to several minutes. avail mem=3.50 GB",
			"available 3.50 GiB captured"},
		{"SGLang, each batch", "Capturing batches (bs=48 avail_mem=40.33 GB):  17%|#7        | 6/35 [00:05<00:24,  1.17it/s]",
			"available 40.33 GiB captured"},
		{"SGLang, weights", "[2026-10-30 07:03:54 TP6] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=22.10 GB, mem usage=55.91 GB.",
			"available 22.10 GiB"},
		{"rights", "all rights reserved 2024", ""},
		{"a budget", "the rest of the memory reserved for KV Cache is 12.00GiB.", ""},
		{"a name that ends alike", "unreserved 3.0 GiB", ""},
		{"a configuration dump", "reserved 3.0 GiB " + strings.Repeat("x", 2000), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range Read(placed(tt.raw, 1)) {
				s := fmt.Sprintf("%s %s", r.Metric, Format(r.Size.Bytes))
				if r.Captured {
					s += " captured"
				}
				got = append(got, s)
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

// track is a series of one process, given as its raw lines.
func track(metric Metric, lines ...string) *Track {
	var c Recorder
	for n, raw := range lines {
		for _, r := range Read(placed(raw, n+1)) {
			if r.Metric == metric {
				c.Add(r)
			}
		}
	}
	if t := c.Tracks(); len(t) == 1 {
		return t[0]
	}
	panic(fmt.Sprint("not one series of ", metric))
}

// captures are lines that report memory at one capture after the other.
func captures(metric string, sizes ...float64) []string {
	var out []string
	for i, s := range sizes {
		out = append(out, fmt.Sprintf("captured graph %d | %s %.2f GiB", i+1, metric, s))
	}
	return out
}

func TestTrend(t *testing.T) {
	tests := []struct {
		name  string
		sizes []float64
		want  string
	}{
		{"one reading", []float64{10}, "flat"},
		{"a single rise at the first capture is healthy", []float64{10, 14, 14, 14, 14}, "flat"},
		{"two rises", []float64{10, 14, 18, 18, 18}, "flat"},
		{"three rises", []float64{10, 14, 18, 22}, "growing"},
		{"three rises with pauses", []float64{10, 14, 14, 18, 18, 22}, "growing"},
		{"up and down", []float64{10, 14, 10, 14, 10, 14, 10, 14}, "flat"},
		{"three rises, given back", []float64{10, 14, 18, 22, 10}, "flat"},
		{"less than rounding", []float64{10, 10.01, 10.02, 10.03}, "flat"},
		{"less than two in a hundred", []float64{100, 100.5, 101, 101.5}, "flat"},
		{"falling", []float64{40, 30, 20, 10}, "falling"},
		{"from nothing", []float64{0, 1, 2, 3}, "growing"},
	}
	for _, tt := range tests {
		if got := track(Reserved, captures("reserved", tt.sizes...)...).Trend(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestGrown(t *testing.T) {
	rising := captures("reserved", 10, 14, 18, 22)
	flat := captures("allocated", 6, 6, 6, 6)
	tests := []struct {
		name                string
		reserved, allocated []string
		grown, captures     bool
	}{
		{"held memory", rising, flat, true, true},
		{"live memory is not reported", rising, nil, true, true},
		{"memory that is in use is not held", rising, captures("allocated", 6, 10, 14, 18), false, false},
		{"a little more in use", rising, captures("allocated", 6, 6.5, 7, 7.5), true, true},
		{"no growth", captures("reserved", 10, 14, 14, 14), flat, false, false},
		{"at steps, not at captures", []string{"step 1 reserved 10.0 GiB", "step 2 reserved 14.0 GiB", "step 3 reserved 18.0 GiB", "step 4 reserved 22.0 GiB"}, nil, true, false},
		{"three captures behind a start without one", append([]string{"before warm-up reserved 10.0 GiB"}, captures("reserved", 14, 18, 22)...), nil, true, true},
		{"two captures do not make growth", append([]string{"step 1 reserved 10.0 GiB", "step 2 reserved 14.0 GiB"}, captures("reserved", 18, 22)...), nil, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var allocated *Track
			if tt.allocated != nil {
				allocated = track(Allocated, tt.allocated...)
			}
			g := Grown(track(Reserved, tt.reserved...), allocated)
			if (g != nil) != tt.grown {
				t.Fatalf("growth: %v", g != nil)
			}
			if g != nil && g.Captures != tt.captures {
				t.Errorf("at captures: %v", g.Captures)
			}
		})
	}
	if Grown(nil, nil) != nil {
		t.Error("nothing grew")
	}
}

func TestRisesStartWhereMemoryRoseFrom(t *testing.T) {
	g := Grown(track(Reserved, captures("reserved", 10, 10, 14, 14, 18, 22)...), nil)
	var got []string
	for _, r := range g.Rises {
		got = append(got, fmt.Sprintf("line %d %s", r.At.Line, Format(r.Size.Bytes)))
	}
	want := []string{"line 1 10.00 GiB", "line 3 14.00 GiB", "line 5 18.00 GiB", "line 6 22.00 GiB"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRecorderKeepsProcessesApart(t *testing.T) {
	var c Recorder
	for n, raw := range []string{
		"[rank0]: step 1 reserved 10.0 GiB allocated 5.0 GiB", "[rank1]: step 1 reserved 11.0 GiB", "[rank0]: step 2 reserved 12.0 GiB", "step 3 reserved 13.0 GiB",
	} {
		for _, r := range Read(placed(raw, n+1)) {
			c.Add(r)
		}
	}
	var got []string
	for _, t := range c.Tracks() {
		got = append(got, fmt.Sprintf("%s %s %d", t.Origin.Name(), t.Metric, len(t.Readings)))
	}
	want := []string{"rank 0 reserved 2", "rank 0 allocated 1", "rank 1 reserved 1", " reserved 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A long series is thinned out: its ends, its order and its trend stay.
func TestLongSeries(t *testing.T) {
	for _, n := range []int{1, 2, MaxSamples - 1, MaxSamples, MaxSamples + 1, 5*MaxSamples + 3, 40 * MaxSamples} {
		var c Recorder
		for i := range n {
			for _, r := range Read(placed(fmt.Sprintf("step %d reserved %.2f GiB", i, 10+float64(i)/10), i+1)) {
				c.Add(r)
			}
		}
		track := c.Tracks()[0]
		if len(track.Readings) > MaxSamples+1 || len(track.Readings)+track.Dropped != n {
			t.Errorf("of %d readings %d are kept and %d dropped", n, len(track.Readings), track.Dropped)
		}
		for i, r := range track.Readings {
			if i > 0 && r.At.Offset <= track.Readings[i-1].At.Offset {
				t.Fatalf("of %d: reading %d is out of order", n, i)
			}
		}
		if first, last := track.Readings[0].At.Line, track.Readings[len(track.Readings)-1].At.Line; first != 1 || last != int64(n) {
			t.Errorf("of %d: from %d to %d", n, first, last)
		}
		if n > 4 && track.Trend() != "growing" {
			t.Errorf("of %d: %s", n, track.Trend())
		}
		again := c.Tracks()[0]
		if len(again.Readings) != len(track.Readings) {
			t.Errorf("of %d: another look changes the series", n)
		}
	}
}

func TestManySeries(t *testing.T) {
	var c Recorder
	for i := range 2 * MaxTracks {
		for _, r := range Read(placed(fmt.Sprintf("[rank%d]: reserved 10.0 GiB", i), i+1)) {
			c.Add(r)
		}
	}
	if n := len(c.Tracks()); n != MaxTracks {
		t.Errorf("%d series", n)
	}
}

func TestSeriesOfTheReport(t *testing.T) {
	s := track(Reserved, "[rank2]: 2026-11-28 04:13:22,150 INFO captured | reserved 10.00 GiB", "[rank2]: 2026-11-28 04:13:23,150 INFO captured | reserved 14.00 GiB").Series()
	if s.Rank == nil || *s.Rank != 2 || s.Metric != "reserved" || s.Trend != "flat" || len(s.Samples) != 2 {
		t.Fatalf("%+v", s)
	}
	first := s.Samples[0]
	if first.Bytes != gib(10) || first.Low != gib(10-eps) || first.High != gib(10+eps) || first.Time == nil || first.Time.Text != "2026-11-28 04:13:22,150" {
		t.Errorf("%+v", first)
	}
}
