package memory

import "slices"

// Thresholds of growth.
const (
	// liveShare: memory that is held grows only if what is live grows by less
	// than this share of it.
	liveShare = 1.0 / 3
	// strayShare is the growth, as a share of the level it reached, from which on
	// it is worth a question where no line tells of captures: a level creeps a
	// little while a run warms up.
	strayShare = 0.1
)

// Growth describes memory that rises over the run: reserved memory, or what is
// left of the card and falls.
type Growth struct {
	Track *Track
	// Rises are the readings at which memory rose, the first one the reading it
	// rose from.
	Rises []Reading
	// Captures is true if the lines that rise say that graphs were captured.
	Captures bool
	// Allocated is the series of live tensors beside it, nil if no line prints it.
	// Live is the same if it rises with the memory: then that is in use, and not
	// held idle.
	Allocated, Live *Track
	// Recurs is true if the rise shows at one place of the program that printed
	// again and again, and had not ended: a program that starts passes many places
	// once, and memory rises from each to the next.
	Recurs bool
}

// Grown returns the growth of a level in tracks of one process, nil if there is
// none. The allocated track may be nil.
func Grown(level, allocated *Track) *Growth {
	if level == nil {
		return nil
	}
	place := level.recurring()
	rises := place != nil && place.rising()
	if !level.rising() {
		if !rises {
			return nil
		}
		level = place // it goes up and down between the places, and up at this one
	}
	g := &Growth{Track: level, Rises: level.tops(), Allocated: allocated}
	g.Captures = capturesAt(g.Rises) >= growthRuns
	g.Recurs = rises && place.grownBy() > int64(strayShare*float64(place.top())) && !place.settled()
	if allocated != nil && len(allocated.Readings) > 1 && float64(allocated.grownBy()) > liveShare*float64(level.grownBy()) {
		g.Live = allocated
	}
	if level.Readings[0].Shared && (allocated == nil || g.Live != nil) {
		return nil // a known set of graphs is captured into one pool
	}
	return g
}

// tops returns the first reading and each that is higher than all before it.
func (t *Track) tops() []Reading {
	var out []Reading
	top := t.level(0)
	for i, r := range t.Readings {
		if l := t.level(i); i == 0 || l.Low > top.High {
			out = append(out, r)
			top = l
		}
	}
	return out
}

// capturesAt counts the rises at which a graph was captured: their line says so,
// and does not count the same graphs as the one before.
func capturesAt(rises []Reading) int {
	n := 0
	for i := 1; i < len(rises); i++ {
		if rises[i].Captured && capturesBetween(&rises[i-1], &rises[i]) != 0 {
			n++
		}
	}
	return n
}

// recurring returns the readings of the place in the program that printed most
// often, nil if there are none.
func (t *Track) recurring() *Track {
	count := map[string]int{}
	for _, r := range t.Readings {
		count[r.Site]++
	}
	if len(t.Readings) == 0 {
		return nil
	}
	best := t.Readings[0].Site
	for _, r := range t.Readings {
		if count[r.Site] > count[best] {
			best = r.Site
		}
	}
	out := &Track{Origin: t.Origin, Metric: t.Metric, Format: t.Format}
	out.Readings = slices.DeleteFunc(slices.Clone(t.Readings), func(r Reading) bool { return r.Site != best })
	return out
}

// settled reports whether memory has stopped to rise: it has been flat for as many
// readings as it rose, and for growthRuns at least.
func (t *Track) settled() bool {
	lastRise, top := 0, t.level(0)
	for i := range t.Readings {
		if l := t.level(i); l.Low > top.High {
			lastRise, top = i, l
		}
	}
	flat := len(t.Readings) - 1 - lastRise
	return flat >= growthRuns && flat >= lastRise
}

// top is the largest figure of the series.
func (t *Track) top() int64 {
	most := int64(0)
	for _, r := range t.Readings {
		most = max(most, r.Size.Bytes)
	}
	return most
}
