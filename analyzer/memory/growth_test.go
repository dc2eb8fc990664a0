package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTrend(t *testing.T) {
	tests := []struct {
		name  string
		sizes []float64
		want  string
	}{
		{"one reading has no trend", []float64{10}, ""},
		{"nor have three", []float64{10, 10, 10}, ""},
		{"four that stay", []float64{10, 10, 10, 10}, "flat"},
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
		{"a little is given back after each rise", []float64{10, 23, 22.9, 36, 35.9, 49, 48.9}, "growing"},
		{"a little comes back after each fall", []float64{49, 36, 36.1, 23, 23.1, 10, 10.1}, "falling"},
		{"half is given back", []float64{10, 14, 12, 16, 14, 18, 16}, "flat"},
		{"falling with a rise", []float64{40, 30, 31, 20, 10, 5, 4}, "falling"},
		{"three falls, none in a row", []float64{40, 30, 30.5, 29, 29.5, 28, 28.5}, "flat"},
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
	steps := func(sizes ...float64) []string {
		var out []string
		for i, s := range sizes {
			out = append(out, fmt.Sprintf("step %d reserved %.2f GiB", i, s))
		}
		return out
	}
	megatron := func(alloc, res []float64) []string {
		var out []string
		for i := range res {
			out = append(out, fmt.Sprintf("create cuda graphs | mem: alloc %.1f gb, res %.1f gb:  50%%|#####     | %d/24 [00:01<00:01, 11.9it/s]", alloc[i], res[i], i+1))
		}
		return out
	}
	sglang := func(left ...float64) []string {
		var out []string
		for i, l := range left {
			out = append(out, fmt.Sprintf("Capturing batches (bs=%d avail_mem=%.2f GB):  17%%|#7        | %d/35 [00:05<00:24,  1.17it/s]", 64-i, l, i+1))
		}
		return out
	}
	left := func(sizes ...float64) []string {
		var out []string
		for i, s := range sizes {
			out = append(out, fmt.Sprintf("captured bucket %d, avail mem=%.2f GB", i, s))
		}
		return out
	}
	var places []string
	for i := range 4 {
		places = append(places,
			fmt.Sprintf("[before ] alloc: %d.5, reserved: %d.0", 60*i+1, 98*i+2), fmt.Sprintf("[after delete] alloc: %d.5, reserved: %d.0", 60*i+61, 98*i+98))
	}
	start := []string{"after model: reserved 10.0 GiB", "after wrap: reserved 14.0 GiB", "after optimizer: reserved 18.0 GiB", "after first batch: reserved 22.0 GiB"}
	tests := []struct {
		name      string
		metric    Metric
		level     []string
		allocated []string
		want      string
	}{
		{"held memory", Reserved, rising, flat, "captures, recurs"},
		{"live memory is not reported", Reserved, rising, nil, "captures, recurs"},
		{"memory that is in use is not held", Reserved, rising, captures("allocated", 6, 10, 14, 18), "live, captures, recurs"},
		{"a little more in use", Reserved, rising, captures("allocated", 6, 6.5, 7, 7.5), "captures, recurs"},
		{"one rise at the first capture is healthy", Reserved, captures("reserved", 10, 14, 14, 14, 14), flat, "-"},
		{"at steps, not at captures", Reserved, steps(10, 14, 18, 22), nil, "recurs"},
		{"at steps, and then it stays", Reserved, steps(10, 14, 18, 22, 22, 22, 22), nil, "does not go on"},
		{"a level that creeps", Reserved, steps(60, 61, 62, 63), nil, "does not go on"},
		{"three captures behind a start without one", Reserved, append([]string{"before warm-up reserved 10.0 GiB"}, captures("reserved", 14, 18, 22)...), nil, "captures"},
		{"two captures do not make growth", Reserved, append([]string{"step 1 reserved 10.0 GiB", "step 2 reserved 14.0 GiB"}, captures("reserved", 18, 22)...), nil, "does not go on"},
		{"the graphs are counted, and are the same ones", Reserved, []string{"step 1 reserved 10.0 GiB graphs=6", "step 2 reserved 14.0 GiB graphs=6", "step 3 reserved 18.0 GiB graphs=6", "step 4 reserved 22.0 GiB graphs=6"}, nil, "recurs"},
		{"the graphs are counted, and become more", Reserved, []string{"step 1 reserved 10.0 GiB graphs=1", "step 2 reserved 14.0 GiB graphs=2", "step 3 reserved 18.0 GiB graphs=3", "step 4 reserved 22.0 GiB graphs=4"}, nil, "captures, recurs"},
		{"the graphs are as many, but captured again", Reserved, []string{"round 1, graphs captured | reserved 10.0 GiB | graphs 6", "round 2, graphs captured | reserved 14.0 GiB | graphs 6", "round 3, graphs captured | reserved 18.0 GiB | graphs 6", "round 4, graphs captured | reserved 22.0 GiB | graphs 6"}, nil, "captures, recurs"},
		{"a start passes many places once", Reserved, start, nil, "does not go on"},
		{"at one place of several", Reserved, places, nil, "recurs"},
		{"up at one place though down between", Reserved, []string{"[mid ] reserved 20.0 GiB", "[end] reserved 10.0 GiB", "[mid ] reserved 24.0 GiB", "[end] reserved 12.0 GiB", "[mid ] reserved 28.0 GiB", "[end] reserved 14.0 GiB", "[mid ] reserved 32.0 GiB", "[end] reserved 16.0 GiB"}, nil, "recurs"},
		{"what is left falls at captures", Available, left(40, 36, 32, 28), nil, "captures, recurs"},
		{"what is left falls once", Available, left(40, 36, 36, 36), nil, "-"},
		{"SGLang's own captures are its start", Available, sglang(40, 38, 37, 36, 35), nil, "-"},
		{"Megatron's captures, with their live buffers", Reserved, megatron([]float64{10, 12, 14, 16}, []float64{20, 23, 26, 29}), megatron([]float64{10, 12, 14, 16}, []float64{20, 23, 26, 29}), "-"},
		{"Megatron's captures that hold more than is live", Reserved, megatron([]float64{10, 10.1, 10.2, 10.3}, []float64{20, 24, 28, 32}), megatron([]float64{10, 10.1, 10.2, 10.3}, []float64{20, 24, 28, 32}), "captures, recurs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var allocated *Track
			if tt.allocated != nil {
				allocated = track(Allocated, tt.allocated...)
			}
			if got := tellGrowth(Grown(track(tt.metric, tt.level...), allocated)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if Grown(nil, nil) != nil {
		t.Error("nothing grew")
	}
}

// tellGrowth names what is said of growth, "-" for none.
func tellGrowth(g *Growth) string {
	if g == nil {
		return "-"
	}
	var said []string
	for _, part := range []struct {
		holds bool
		name  string
	}{{g.Live != nil, "live"}, {g.Captures, "captures"}, {g.Recurs, "recurs"}} {
		if part.holds {
			said = append(said, part.name)
		}
	}
	if said == nil {
		return "does not go on"
	}
	return strings.Join(said, ", ")
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
