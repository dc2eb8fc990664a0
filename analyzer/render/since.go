package render

import (
	"fmt"
	"math"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Since is a short sign of how long after the initiating event something was
// printed: "+0.4 s", "-12 min", "0 s", and "~+10 min" where the initiating line has
// no time of its own.
func Since(e *incident.Elapsed) string {
	about := ""
	if e.Around {
		about = "~"
	}
	switch {
	case together(e):
		return about + "0 s"
	case e.Seconds < 0:
		return about + "-" + span(-e.Seconds, e.Within)
	}
	return about + "+" + span(e.Seconds, e.Within)
}

// sinceWords goes before the name of the initiating line: "10 min 3 s after".
func sinceWords(e *incident.Elapsed) string {
	about := ""
	if e.Around {
		about = "about "
	}
	switch {
	case together(e) && e.Seconds == 0 && e.Within < 1:
		return "at the same time as"
	case together(e):
		return "within " + span(max(e.Within, 1), 1) + " of"
	case e.Seconds < 0:
		return about + exact(-e.Seconds, e.Within) + " before"
	}
	return about + exact(e.Seconds, e.Within) + " after"
}

// together reports whether the two times cannot be told apart.
func together(e *incident.Elapsed) bool {
	return e.Seconds == 0 || math.Abs(e.Seconds) < e.Within
}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// span prints seconds in the largest unit in which at least two are left, with no
// more digits than were printed.
func span(seconds, within float64) string {
	switch {
	case seconds >= 2*day:
		return fmt.Sprintf("%.0f d", seconds/day)
	case seconds >= 2*hour:
		return fmt.Sprintf("%.1f h", seconds/hour)
	case seconds >= 2*minute:
		return fmt.Sprintf("%.0f min", seconds/minute)
	case seconds >= 10 || within >= 1:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 0.1:
		return fmt.Sprintf("%.0f ms", max(1, 1000*seconds))
	}
	return fmt.Sprintf("%.1f s", seconds)
}

// exact is span with a second unit: "10 min 3 s".
func exact(seconds, within float64) string {
	n := int64(math.Round(seconds))
	two := func(big int64, unit string, small int64, rest string) string {
		if n%big/small == 0 {
			return fmt.Sprintf("%d %s", n/big, unit)
		}
		return fmt.Sprintf("%d %s %d %s", n/big, unit, n%big/small, rest)
	}
	switch {
	case n >= 2*day:
		return two(day, "d", hour, "h")
	case n >= 2*hour:
		return two(hour, "h", minute, "min")
	case n >= 2*minute:
		return two(minute, "min", 1, "s")
	}
	return span(seconds, within)
}

// waited prints a duration that a message tells: "600.0 s".
func waited(seconds float64) string {
	if seconds == math.Trunc(seconds) {
		return fmt.Sprintf("%.0f s", seconds)
	}
	return fmt.Sprintf("%.1f s", seconds)
}
