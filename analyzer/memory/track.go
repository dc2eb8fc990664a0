package memory

import (
	"cmp"
	"slices"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Bounds of a series.
const (
	// MaxSamples bounds the readings kept of one series: when it is full, every
	// other one goes, and from then on only every other new one is kept.
	MaxSamples = 256
	// MaxTracks bounds the series kept of one file.
	MaxTracks = 8192
)

// Track is one metric of one process over the run, in one format. The first
// reading and the latest one are always kept.
type Track struct {
	Origin   incident.Origin
	Metric   Metric
	Format   string
	Readings []Reading
	Dropped  int

	every, skipped int // one of every readings is kept
	captures       int // readings at captures so far
	latest         *Reading
}

func (t *Track) add(r Reading) {
	if r.Captured {
		t.captures++
	}
	r.captures = t.captures
	t.every = max(t.every, 1)
	t.latest = &r
	t.skipped++
	if t.skipped < t.every && len(t.Readings) > 0 {
		t.Dropped++
		return
	}
	t.skipped = 0
	t.keep(r)
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

func (t *Track) keep(r Reading) {
	r.time = r.Stamp.Time()
	t.Readings = append(t.Readings, r)
}

// Recorder gathers the readings of one file into tracks, in bounded memory.
type Recorder struct {
	tracks  []*Track
	index   map[trackKey]*Track
	dropped int
}

type trackKey struct {
	metric Metric
	format string
	origin incident.Key
}

// Add takes the next reading of the file.
func (c *Recorder) Add(r Reading) {
	if c.index == nil {
		c.index = map[trackKey]*Track{}
	}
	k := trackKey{r.Metric, r.Format, r.Origin.Key()}
	t := c.index[k]
	if t == nil {
		if len(c.tracks) >= MaxTracks {
			c.dropped++
			return
		}
		t = &Track{Origin: r.Origin, Metric: r.Metric, Format: r.Format}
		c.index[k] = t
		c.tracks = append(c.tracks, t)
	}
	t.add(r)
}

// Dropped counts the readings that were not kept because their series would have
// been one more than MaxTracks.
func (c *Recorder) Dropped() int { return c.dropped }

// Tracks returns the series gathered, in the order of their first readings.
func (c *Recorder) Tracks() []*Track {
	for _, t := range c.tracks {
		if n := len(t.Readings); t.latest != nil && t.Readings[n-1].At.Offset != t.latest.At.Offset {
			t.keep(*t.latest)
			t.Dropped--
		}
		t.latest = nil
	}
	return c.tracks
}

// Series gives the track in the form of the report. Of figures that are no bytes
// it has no samples, only the trend: the report's samples are bytes.
func (t *Track) Series() incident.Series {
	s := incident.Series{Rank: t.Origin.Rank, Metric: string(t.Metric), Trend: cmp.Or(t.Trend(), Flat), SamplesDropped: t.Dropped, Samples: []incident.Sample{}}
	if len(t.Readings) == 0 {
		return s
	}
	if t.Readings[0].Card {
		s.Rank = nil // whose card it is, the line does not say
	}
	if t.Readings[0].NoUnit {
		s.SamplesDropped += len(t.Readings)
		return s
	}
	for _, r := range t.Readings {
		s.Samples = append(s.Samples, incident.Sample{
			Offset: r.At.Offset, Bytes: r.Size.Bytes, Low: r.Size.Low, High: r.Size.High, Step: r.at(), Time: r.time,
		})
	}
	s.BytesPerCapture = t.bytesPerCapture()
	return s
}

// at is where in the run the reading is, as far as its line states: the step, or
// else the capture.
func (r *Reading) at() *int64 {
	if r.Step != nil {
		return r.Step
	}
	return r.Graph
}

// bytesPerCapture is what one more capture takes: the median, so that the first
// one, which is healthy, does not count alone. Nil where fewer than two readings
// are at captures.
func (t *Track) bytesPerCapture() *int64 {
	var slopes []int64
	last := -1
	for i := range t.Readings {
		if !t.Readings[i].Captured {
			continue
		}
		if last >= 0 {
			if n := capturesBetween(&t.Readings[last], &t.Readings[i]); n > 0 {
				slopes = append(slopes, (t.level(i).Bytes-t.level(last).Bytes)/n)
			}
		}
		last = i
	}
	if len(slopes) == 0 {
		return nil
	}
	slices.Sort(slopes)
	return &slopes[len(slopes)/2]
}

// capturesBetween counts the captures between two readings: by the numbers that
// their lines state, else by the readings that tell of one in words. Where graphs are
// deleted and captured again, their number stays.
func capturesBetween(a, b *Reading) int64 {
	if a.Graph != nil && b.Graph != nil {
		if n := *b.Graph - *a.Graph; n != 0 || !b.inWords {
			return n
		}
	}
	return int64(b.captures - a.captures)
}

// level returns reading i as memory in use: of what is left, the negative.
func (t *Track) level(i int) incident.Size {
	s := t.Readings[i].Size
	if t.Metric.falls() {
		return incident.Size{Bytes: -s.Bytes, Low: -s.High, High: -s.Low}
	}
	return s
}
