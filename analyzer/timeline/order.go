package timeline

import (
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// Order is how two events stand in time.
type Order int

// The orders. Tied events lie within the clock's granularity; Unordered ones
// have nothing that compares.
const (
	Unordered Order = iota
	Earlier
	Later
	Tied
)

// Compare says whether a happened before b. One process prints in order. For
// two processes printed times decide if they are of one kind; without times,
// lines of one file keep their order only when far enough apart that buffering
// does not explain it.
func Compare(a, b *message.Event) Order {
	if Same(a.Origin, b.Origin) && a.At.File == b.At.File {
		return inFile(a, b)
	}
	if d, ok := apart(a.Time, b.Time); ok {
		granularity := max(seconds(a.Time.Granularity), seconds(b.Time.Granularity))
		if a.Origin.Host != "" && b.Origin.Host != "" && a.Origin.Host != b.Origin.Host {
			granularity = max(granularity, hostClocks)
		}
		switch {
		case d >= granularity && d > 0:
			return Earlier
		case -d >= granularity && d < 0:
			return Later
		}
		return Tied
	}
	if a.At.File != b.At.File {
		return Unordered
	}
	return Tied
}

// hostClocks is how far the clocks of two hosts may be apart: they are set over the
// network, and hardly anybody watches that on a cluster.
const hostClocks = time.Second

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func inFile(a, b *message.Event) Order {
	switch {
	case a.At.Before(b.At):
		return Earlier
	case b.At.Before(a.At):
		return Later
	}
	return Tied
}

// apart returns how much later b is than a, if the two times compare: the same
// kind of clock, and both with or both without a year.
func apart(a, b *incident.Time) (time.Duration, bool) {
	if a == nil || b == nil || a.At == nil || b.At == nil || a.Clock != incident.Wall || b.Clock != incident.Wall {
		return 0, false
	}
	if (a.At.Year() == 0) != (b.At.Year() == 0) {
		return 0, false
	}
	return b.At.Sub(*a.At), true
}

// Before reports whether a lies more than by before b. Where one of the two was
// printed without a year, both are taken to be of one year.
func Before(a, b *incident.Time, by time.Duration) bool {
	if a == nil || b == nil || a.At == nil || b.At == nil || a.Clock != incident.Wall || b.Clock != incident.Wall {
		return false
	}
	x, y := *a.At, *b.At
	if (x.Year() == 0) != (y.Year() == 0) {
		x, y = x.AddDate(-x.Year(), 0, 0), y.AddDate(-y.Year(), 0, 0)
	}
	return y.Sub(x) > by
}

// Same reports whether two origins are one process, as far as they tell.
func Same(a, b incident.Origin) bool { return Who(a) == Who(b) }

// Who is the process of an origin in comparable form: a rank says it all.
func Who(o incident.Origin) incident.Key {
	if o.Rank != nil {
		return incident.Origin{Rank: o.Rank}.Key()
	}
	return o.Key()
}
