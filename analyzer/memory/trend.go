package memory

import "github.com/graphtrap/graphtrap/analyzer/incident"

// Thresholds of a trend.
const (
	// growthRuns is how many rises in a row make growth: a single rise at the
	// first capture is healthy.
	growthRuns = 3
	// steady is how many rises there must be for one fall.
	steady = 4
	// takesBack is how much larger a move must be than the one behind it for that
	// to be none: what a run gives back after each capture is a fraction of it.
	takesBack = 8
	// flatShare is the change, as a share of the first value, below which a
	// series is flat.
	flatShare = 0.02
)

// Trends of a series.
const (
	Growing = "growing"
	Flat    = "flat"
	Falling = "falling"
)

// Trend says how the printed figure goes. It grows if it rises at growthRuns
// readings in a row, beyond what rounding can make of one value, and seldom falls:
// a level that goes up and down with the work is flat. It is "" for so few readings
// that growth could not show: that nothing rose then says nothing.
func (t *Track) Trend() string {
	if len(t.Readings) <= growthRuns {
		return ""
	}
	first, last := t.ends()
	change := float64(last.Bytes-first.Bytes) / max(1, float64(first.Bytes))
	rises, falls, longestRise, longestFall := t.runs()
	switch {
	case longestRise >= growthRuns && falls*steady <= rises && last.Low > first.High && change > flatShare:
		return Growing
	case longestFall >= growthRuns && rises*steady <= falls && last.High < first.Low && change < -flatShare:
		return Falling
	}
	return Flat
}

// runs counts the rises and falls, and the longest run of each. A reading that may
// be the same as the one before does not end a run, nor does one that takes back
// only a little of the move before it.
func (t *Track) runs() (rises, falls, longestRise, longestFall int) {
	run, last := 0, int64(0) // moves in one direction so far, and the latest of them
	for i := 1; i < len(t.Readings); i++ {
		a, b := t.Readings[i-1].Size, t.Readings[i].Size
		move := b.Bytes - a.Bytes
		back := run > 0 && move < 0 && -move*takesBack < last || run < 0 && move > 0 && move*takesBack < -last
		switch {
		case back:
		case b.Low > a.High:
			rises++
			run, last = max(run, 0)+1, move
		case b.High < a.Low:
			falls++
			run, last = min(run, 0)-1, move
		}
		longestRise, longestFall = max(longestRise, run), max(longestFall, -run)
	}
	return rises, falls, longestRise, longestFall
}

// rising reports whether memory in use rises, whatever the figure is called.
func (t *Track) rising() bool {
	if t.Metric.falls() {
		return t.Trend() == Falling
	}
	return t.Trend() == Growing
}

func (t *Track) ends() (first, last incident.Size) {
	if len(t.Readings) == 0 {
		return
	}
	return t.Readings[0].Size, t.Readings[len(t.Readings)-1].Size
}

// grownBy is how much more memory is in use at the last reading than at the first.
func (t *Track) grownBy() int64 {
	n := len(t.Readings)
	if n == 0 {
		return 0
	}
	return t.level(n-1).Bytes - t.level(0).Bytes
}
