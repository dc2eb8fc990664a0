package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// track is a series of one process, given as its raw lines.
func track(metric Metric, lines ...string) *Track {
	var c Recorder
	for _, r := range read(strings.Join(lines, "\n")) {
		if r.Metric == metric {
			c.Add(r)
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

func TestRecorderKeepsProcessesApart(t *testing.T) {
	var c Recorder
	for _, r := range read(strings.Join([]string{
		"[rank0]: step 1 reserved 10.0 GiB allocated 5.0 GiB", "[rank1]: step 1 reserved 11.0 GiB", "[rank0]: step 2 reserved 12.0 GiB", "step 3 reserved 13.0 GiB",
	}, "\n")) {
		c.Add(r)
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
		var lines Reader
		for i := range n {
			for _, r := range lines.Read(placed(fmt.Sprintf("step %d reserved %.2f GiB", i, 10+float64(i)/10), i+1)) {
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
	var lines Reader
	for i := range 2 * MaxTracks {
		for _, r := range lines.Read(placed(fmt.Sprintf("[rank%d]: reserved 10.0 GiB", i), i+1)) {
			c.Add(r)
		}
	}
	if n := len(c.Tracks()); n != MaxTracks {
		t.Errorf("%d series", n)
	}
	if n := c.Dropped(); n != MaxTracks {
		t.Errorf("%d readings dropped", n)
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

func TestSeriesTellsSteps(t *testing.T) {
	s := track(Reserved, "step 3 reserved 10.00 GiB", "[graph 4/9] reserved 11.00 GiB", "reserved 12.00 GiB").Series()
	var got []string
	for _, sample := range s.Samples {
		if sample.Step == nil {
			got = append(got, "-")
			continue
		}
		got = append(got, fmt.Sprint(*sample.Step))
	}
	if diff := cmp.Diff([]string{"3", "4", "-"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBytesPerCapture(t *testing.T) {
	tests := []struct {
		name   string
		metric Metric
		lines  []string
		want   string
	}{
		{"each costs as much", Reserved, captures("reserved", 10, 14, 18, 22), "4.00 GiB"},
		{"only the first costs: healthy", Reserved, captures("reserved", 10, 14, 14, 14, 14), "0 bytes"},
		{"graphs are numbered, and some are not printed", Reserved, []string{"graph entry 0/96 reserved 10.00 GiB", "graph entry 6/96 reserved 16.00 GiB", "graph entry 12/96 reserved 22.00 GiB"}, "1.00 GiB"},
		{"what is left falls", Available, []string{"Capturing batches (bs=8 avail_mem=40.00 GB):  33%|###       | 1/3 [00:01<00:01,  1.1it/s]", "Capturing batches (bs=4 avail_mem=39.00 GB):  66%|###       | 2/3 [00:01<00:01,  1.1it/s]"}, "1.00 GiB"},
		{"one reading", Reserved, captures("reserved", 10), "-"},
		{"no captures", Reserved, []string{"step 1 reserved 10.0 GiB", "step 2 reserved 14.0 GiB"}, "-"},
		{"the same graphs all the time", Reserved, []string{"step 1 reserved 10.0 GiB graphs=6", "step 2 reserved 14.0 GiB graphs=6"}, "-"},
		{"no unit", Reserved, []string{"captured 1: alloc: 1.5, reserved: 2.5", "captured 2: alloc: 1.5, reserved: 3.5"}, "-"},
	}
	for _, tt := range tests {
		got := "-"
		if n := track(tt.metric, tt.lines...).Series().BytesPerCapture; n != nil {
			got = Format(*n)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Of figures that are no bytes the report has the trend alone.
func TestSeriesWithoutUnit(t *testing.T) {
	s := track(Reserved, "alloc: 1.5, reserved: 2.5", "alloc: 1.5, reserved: 3.5", "alloc: 1.5, reserved: 4.5", "alloc: 1.5, reserved: 5.5").Series()
	if s.Trend != Growing || len(s.Samples) != 0 || s.Samples == nil || s.SamplesDropped != 4 {
		t.Errorf("%+v", s)
	}
}

// A card's figures are nobody's: nvidia-smi says which card, not whose.
func TestSeriesOfACard(t *testing.T) {
	zero := 0
	s := track(Used, "|    3   N/A  N/A      4242      C   python   78012MiB |")
	s.Origin.Rank = &zero
	if got := s.Series(); got.Rank != nil {
		t.Errorf("rank %d", *got.Rank)
	}
}

// GB here and GB there are two series.
func TestFormatsAreTwoSeries(t *testing.T) {
	var c Recorder
	for _, r := range read("step 1 reserved 2.1 GB\nstep 1 reserved 2.0 GiB\nstep 2 reserved 2.2 GB") {
		c.Add(r)
	}
	if tracks := c.Tracks(); len(tracks) != 2 || len(tracks[0].Readings) != 2 {
		t.Errorf("%d series", len(tracks))
	}
}
