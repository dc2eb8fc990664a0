package memory

import (
	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Bounds and thresholds of a series.
const (
	// MaxSamples bounds the readings kept of one series: when it is full, every
	// other one goes, and from then on only every other new one is kept.
	MaxSamples = 256
	// MaxTracks bounds the series kept of one file.
	MaxTracks = 8192
	// growthRuns is how many rises in a row make growth: a single rise at the
	// first capture is healthy.
	growthRuns = 3
	// steady is how many rises there must be for one fall.
	steady = 4
	// flatShare is the change, as a share of the first value, below which a
	// series is flat.
	flatShare = 0.02
	// liveShare: memory that is held grows only if what is live grows by less
	// than this share of it.
	liveShare = 1.0 / 3
)

// Track is one metric of one process over the run. The first reading and the
// latest one are always kept.
type Track struct {
	Origin   incident.Origin
	Metric   Metric
	Readings []Reading
	Dropped  int

	every, skipped int // one of every readings is kept
	latest         *Reading
}

func (t *Track) add(r Reading) {
	t.every = max(t.every, 1)
	t.latest = &r
	t.skipped++
	if t.skipped < t.every && len(t.Readings) > 0 {
		t.Dropped++
		return
	}
	t.skipped = 0
	t.Readings = append(t.Readings, r)
	if len(t.Readings) < MaxSamples {
		return
	}
	kept := t.Readings[:0]
	for i, old := range t.Readings {
		if i%2 == 0 {
			kept = append(kept, old)
		}
	}
	t.Dropped += len(t.Readings) - len(kept)
	t.Readings = kept
	t.every *= 2
}

// Recorder gathers the readings of one file into tracks, in bounded memory.
type Recorder struct {
	tracks []*Track
	index  map[trackKey]*Track
}

type trackKey struct {
	metric Metric
	origin incident.Key
}

// Add takes the next reading of the file.
func (c *Recorder) Add(r Reading) {
	if c.index == nil {
		c.index = map[trackKey]*Track{}
	}
	k := trackKey{r.Metric, r.Origin.Key()}
	t := c.index[k]
	if t == nil {
		if len(c.tracks) >= MaxTracks {
			return
		}
		t = &Track{Origin: r.Origin, Metric: r.Metric}
		c.index[k] = t
		c.tracks = append(c.tracks, t)
	}
	t.add(r)
}

// Tracks returns the series gathered, in the order of their first readings.
func (c *Recorder) Tracks() []*Track {
	for _, t := range c.tracks {
		if n := len(t.Readings); t.latest != nil && t.Readings[n-1].At.Offset != t.latest.At.Offset {
			t.Readings = append(t.Readings, *t.latest)
			t.Dropped--
		}
		t.latest = nil
	}
	return c.tracks
}

// Trend says how the series goes. It grows if it rises at growthRuns readings in a
// row, beyond what rounding can make of one value, and seldom falls: a level that
// goes up and down with the work is flat.
func (t *Track) Trend() string {
	rise, fall, rises := 0, 0, 0
	longest := 0
	for i := 1; i < len(t.Readings); i++ {
		a, b := t.Readings[i-1].Size, t.Readings[i].Size
		switch {
		case b.Low > a.High:
			rise++
			rises++
			longest = max(longest, rise)
		case b.High < a.Low:
			fall++
			rise = 0
		}
	}
	first, last := t.ends()
	change := float64(last.Bytes-first.Bytes) / max(1, float64(first.Bytes))
	switch {
	case longest >= growthRuns && fall*steady <= rises && last.Low > first.High && change > flatShare:
		return "growing"
	case fall >= growthRuns && rises*steady <= fall && last.High < first.Low && change < -flatShare:
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
			if i > 0 && r.Captured {
				captured++
			}
			top = r.Size
		}
	}
	g.Captures = captured >= growthRuns
	return g
}

// Series gives the track in the form of the report.
func (t *Track) Series() incident.Series {
	s := incident.Series{Rank: t.Origin.Rank, Metric: string(t.Metric), Trend: t.Trend(), SamplesDropped: t.Dropped}
	for _, r := range t.Readings {
		s.Samples = append(s.Samples, incident.Sample{
			Offset: r.At.Offset, Bytes: r.Size.Bytes, Low: r.Size.Low, High: r.Size.High, Time: r.Stamp.Time(),
		})
	}
	return s
}
