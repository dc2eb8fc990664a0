// Package message applies the signatures to the lines that the scan kept and to
// what follows them, and gives events: known messages with their facts, who
// printed them and when, and the traceback that they end.
package message

import (
	"strconv"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
	"github.com/graphtrap/graphtrap/signatures"
)

// PythonException is the id of an exception that ends a traceback and that no
// signature knows.
const PythonException = "python-exception"

// Event is a recognised message.
type Event struct {
	// ID is the message's id, or [PythonException].
	ID   string
	Role incident.Role
	// Message is nil for a PythonException.
	Message *signatures.Message
	Facts   map[string]incident.Fact
	// At is the line, Last the line where a wrapped message ends.
	At, Last line.Placed
	// Start and End are the part of At's text that matched.
	Start, End int
	// Origin is At's origin, completed from the rest of the log by package timeline.
	Origin incident.Origin
	Time   *incident.Time
	// Traceback is the one that the message ends or introduces, or nil.
	Traceback *traceback.Traceback

	// Relayed is true where a parent printed the message of the process that At's
	// origin names.
	Relayed bool

	order int // of recognition, for events of one line
}

// Async reports whether the frame that printed the event may be innocent.
func (e *Event) Async() bool { return e.Message != nil && e.Message.Async }

// Named reports whether the event is about the process that its facts name, and
// not about the one that printed it.
func (e *Event) Named() bool { return e.Message != nil && e.Message.About == "named" }

// Weak reports whether the event counts as an initiator only where nothing better is
// known.
func (e *Event) Weak() bool { return e.Message != nil && e.Message.Weak }

// Outside reports whether the kernel, the driver or the scheduler tells of a process.
func (e *Event) Outside() bool { return e.Message != nil && e.Message.Outside }

// Location is the line, or the wrapped lines, of the message alone.
func (e *Event) Location() incident.Location {
	if e.Last.Number > e.At.Number {
		return line.Span(e.At, e.Last, e.At)
	}
	return e.At.Location()
}

// read adds what the match and the line's time say. It does so once: what wraps may
// have added facts since.
func (e *Event) read(m signatures.Match) {
	if e.Facts == nil {
		e.Facts, e.Time = facts(m.Facts()), e.At.Stamp.Time()
	}
}

// facts turns what a signature captured into typed values. A size that cannot
// be (an underflow) is left out: unknown, not zero.
func facts(captures map[string]signatures.Capture) map[string]incident.Fact {
	out := make(map[string]incident.Fact, len(captures))
	for name, c := range captures {
		if f, ok := fact(c); ok {
			out[name] = f
		}
	}
	return out
}

func fact(c signatures.Capture) (incident.Fact, bool) {
	f := incident.Fact{Kind: incident.KindText, Text: c.Text}
	var ok bool
	var err error
	switch c.Kind {
	case signatures.KindSize:
		f.Kind = incident.KindSize
		f.Size, ok = memory.ParseSize(c.Text)
		return f, ok
	case signatures.KindMiB:
		f.Kind = incident.KindSize
		f.Size, ok = memory.Scale(c.Text, memory.MiB)
		return f, ok
	case signatures.KindGiB:
		f.Kind = incident.KindSize
		f.Size, ok = memory.Scale(c.Text, memory.GiB)
		return f, ok
	case signatures.KindInt:
		f.Kind = incident.KindInt
		f.Int, err = strconv.ParseInt(c.Text, 10, 64)
		return f, err == nil
	case signatures.KindMillis:
		f.Kind = incident.KindSeconds
		f.Number, err = strconv.ParseFloat(c.Text, 64)
		f.Number /= 1000
		return f, err == nil
	case signatures.KindSeconds:
		f.Kind = incident.KindSeconds
		f.Number, err = strconv.ParseFloat(c.Text, 64)
		return f, err == nil
	case signatures.KindNumber:
		f.Kind = incident.KindNumber
		f.Number, err = strconv.ParseFloat(c.Text, 64)
		return f, err == nil
	}
	return f, true
}
