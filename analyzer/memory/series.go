package memory

import (
	"slices"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Bounds and thresholds of a series.
const (
	// MaxSamples bounds the samples kept of one series; the rest is thinned out evenly.
	MaxSamples = 512
	// growthRuns is how many rises in a row make growth: a single rise at the
	// first capture is healthy.
	growthRuns = 3
	// flatShare is the change, as a share of the first value, below which a
	// series is flat.
	flatShare = 0.02
	// liveShare: memory that is held grows only if what is live grows by less
	// than this share of it.
	liveShare = 1.0 / 3
)

// Track is one metric of one process over the run.
type Track struct {
	Origin   incident.Origin
	Metric   Metric
	Readings []Reading
	Dropped  int
}

// Tracks sorts readings, given in the order of the log, by process and metric.
func Tracks(readings []Reading, same func(a, b incident.Origin) bool) []*Track {
	var tracks []*Track
	for _, r := range readings {
		i := slices.IndexFunc(tracks, func(t *Track) bool {
			return t.Metric == r.Metric && same(t.Origin, r.At.Origin)
		})
		if i < 0 {
			i = len(tracks)
			tracks = append(tracks, &Track{Origin: r.At.Origin, Metric: r.Metric})
		}
		tracks[i].Readings = append(tracks[i].Readings, r)
	}
	return tracks
}

// Trend says how the series goes. It grows if it rises at growthRuns readings in a
// row without falling back, beyond what rounding can make of one value.
func (t *Track) Trend() string {
	rise, fall := 0, 0
	longest := 0
	for i := 1; i < len(t.Readings); i++ {
		a, b := t.Readings[i-1].Size, t.Readings[i].Size
		switch {
		case b.Low > a.High:
			rise++
			longest = max(longest, rise)
		case b.High < a.Low:
			fall++
			rise = 0
		}
	}
	first, last := t.ends()
	change := float64(last.Bytes-first.Bytes) / max(1, float64(first.Bytes))
	switch {
	case longest >= growthRuns && last.Low > first.High && change > flatShare:
		return "growing"
	case fall >= growthRuns && last.High < first.Low && change < -flatShare:
		return "falling"
	}
	return "flat"
}

func (t *Track) ends() (first, last incident.Size) {
	if len(t.Readings) == 0 {
		return
	}
	return t.Readings[0].Size, t.Readings[len(t.Readings)-1].Size
}

// Growth describes reserved memory that grows while live memory does not.
type Growth struct {
	Reserved *Track
	// Rises are the readings at which reserved memory rose, the first one the
	// reading it rose from.
	Rises []Reading
	// Captures is true if the lines that rise say that graphs were captured.
	Captures bool
}

// Grown returns the growth of reserved memory in tracks of one process, nil if
// there is none: memory that rises with what is live is in use, not held.
func Grown(reserved, allocated *Track) *Growth {
	if reserved == nil || reserved.Trend() != "growing" {
		return nil
	}
	first, last := reserved.ends()
	if allocated != nil && len(allocated.Readings) > 1 {
		a, b := allocated.ends()
		if float64(b.Bytes-a.Bytes) > liveShare*float64(last.Bytes-first.Bytes) {
			return nil
		}
	}
	g := &Growth{Reserved: reserved}
	captured := 0
	top := first
	for i, r := range reserved.Readings {
		if i == 0 || r.Size.Low > top.High {
			g.Rises = append(g.Rises, r)
			if r.Captured {
				captured++
			}
			top = r.Size
		}
	}
	g.Captures = captured > growthRuns
	return g
}

// Series gives the track in the form of the report.
func (t *Track) Series() incident.Series {
	s := incident.Series{Rank: t.Origin.Rank, Metric: string(t.Metric), Trend: t.Trend(), SamplesDropped: t.Dropped}
	step := 1
	if n := len(t.Readings); n > MaxSamples {
		step = (n + MaxSamples - 1) / MaxSamples
	}
	for i, r := range t.Readings {
		if i%step != 0 && i != len(t.Readings)-1 {
			s.SamplesDropped++
			continue
		}
		s.Samples = append(s.Samples, incident.Sample{
			Offset: r.At.Start + int64(r.At.Column(0)), Bytes: r.Size.Bytes, Low: r.Size.Low, High: r.Size.High,
			Time: r.At.Stamp.Time(),
		})
	}
	return s
}
