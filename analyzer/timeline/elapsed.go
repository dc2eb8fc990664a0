package timeline

import (
	"strings"
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// zoneApart is less than what two zones of one log lie apart: clocks of which one
// may be in another zone compare below it only.
const zoneApart = 45 * time.Minute

// Elapsed returns how much later b was printed than a, and by how much that may be
// wrong because of the digits that were printed. ok is false where the two do not
// compare.
//
// It serves to tell people how far apart two lines are, so it compares more than
// [Compare] does: also times of which one was printed without a year, or without a
// zone where the other has one, if they are close.
func Elapsed(a, b *incident.Time) (d, within time.Duration, ok bool) {
	if a == nil || b == nil || a.At == nil || b.At == nil || a.Clock != incident.Wall || b.Clock != incident.Wall {
		return 0, 0, false
	}
	x, y := *a.At, *b.At
	yearless := (x.Year() == 0) != (y.Year() == 0)
	if yearless {
		x, y = x.AddDate(-x.Year(), 0, 0), y.AddDate(-y.Year(), 0, 0)
	}
	d = y.Sub(x)
	if (yearless || zoned(a) != zoned(b)) && d.Abs() >= zoneApart {
		return 0, 0, false
	}
	return d, time.Duration(max(a.Granularity, b.Granularity) * float64(time.Second)), true
}

// zoned reports whether a time names its zone: "...T04:13:22Z", "...+02:00".
func zoned(t *incident.Time) bool {
	n := len(t.Text)
	return strings.HasSuffix(t.Text, "Z") || n > 6 && t.Text[n-3] == ':' && strings.IndexByte("+-", t.Text[n-6]) >= 0
}
