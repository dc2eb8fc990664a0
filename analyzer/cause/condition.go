package cause

import (
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// holds evaluates a condition about the initiating event e, which is nil where
// no line states the failure. The answer is unknown, never an error, where the
// log does not show what is asked.
func (q *Inquiry) holds(w *signatures.When, e *message.Event) proof {
	if w == nil {
		return proof{holds: incident.Yes}
	}
	switch {
	case w.All != nil:
		return q.all(w.All, e)
	case w.Any != nil:
		return q.any(w.Any, e)
	case w.Not != nil:
		p := q.holds(w.Not, e)
		p.holds = not(p.holds)
		return p
	case w.Same != "":
		return q.recurs(w)
	case w.Message != "":
		return q.seen(w, e)
	case w.Phase != "":
		return q.phase(w.Phase, e)
	case w.Frame != "" || w.Function != "":
		return q.hasFrame(w, e)
	case w.Source != "":
		return q.hasSource(w, e)
	case w.Text != "":
		return hasText(w, e)
	case w.Metric != "":
		return q.trend(w, e)
	case w.Stack != "":
		return q.stack(w.Stack, e)
	case w.Version != nil:
		return q.version(w.Version)
	case w.Processes != "":
		return answer((w.Processes == "several") == q.Run.Several)
	}
	return proof{holds: incident.Unknown}
}

func not(a incident.Answer) incident.Answer {
	switch a {
	case incident.Yes:
		return incident.No
	case incident.No:
		return incident.Yes
	}
	return incident.Unknown
}

func answer(b bool) proof {
	if b {
		return proof{holds: incident.Yes}
	}
	return proof{holds: incident.No}
}

// all is no if one part is no, else unknown if one part is unknown. The line is
// that of the first part that has one.
func (q *Inquiry) all(parts []signatures.When, e *message.Event) proof {
	result := proof{holds: incident.Yes}
	for i := range parts {
		p := q.holds(&parts[i], e)
		if p.holds == incident.No {
			return p
		}
		if p.holds == incident.Unknown {
			result.holds = incident.Unknown
		}
		if result.at == nil {
			result.at, result.says = p.at, p.says
		}
	}
	return result
}

func (q *Inquiry) any(parts []signatures.When, e *message.Event) proof {
	result := proof{holds: incident.No}
	for i := range parts {
		p := q.holds(&parts[i], e)
		if p.holds == incident.Yes {
			return p
		}
		if p.holds == incident.Unknown {
			result.holds = incident.Unknown
		}
	}
	return result
}

// seen: the message was printed, by the initiator up to its failure or anywhere
// in the run, and its facts compare as asked.
func (q *Inquiry) seen(w *signatures.When, e *message.Event) proof {
	result := proof{holds: incident.No}
	try := func(other *message.Event) bool {
		if other.ID != w.Message || q.setAsideAs(other) {
			return false
		}
		p := proven(incident.Yes, other.Location(), "")
		if w.Fact != "" {
			p.holds = compare(other.Facts, w)
		}
		if p.holds == incident.Yes || result.holds == incident.No {
			result = p
		}
		return p.holds == incident.Yes
	}
	if e != nil && try(e) {
		return result
	}
	if e != nil && e.ID == w.Message && w.Where != "run" {
		return result // it is about this very message
	}
	for _, other := range q.Run.Events {
		if w.Where != "run" {
			if e != nil && other.Origin.Known() && e.Origin.Known() && !timeline.Same(other.Origin, e.Origin) {
				continue
			}
		}
		if try(other) {
			return result
		}
	}
	return result
}

// setAsideAs reports whether an event was found to be no part of this run.
func (q *Inquiry) setAsideAs(e *message.Event) bool {
	return q.roles[e] == incident.RoleContext && e.Role != incident.RoleContext
}

// recurs: messages of the run agree in one fact and differ in another, as reports of
// one card from several processes do.
func (q *Inquiry) recurs(w *signatures.When) proof {
	values := map[string]map[string]*message.Event{}
	for _, e := range q.Run.Events {
		same, okSame := e.Facts[w.Same]
		distinct, okDistinct := e.Facts[w.Distinct]
		if e.ID != w.Message || !okSame || !okDistinct {
			continue
		}
		if values[same.Text] == nil {
			values[same.Text] = map[string]*message.Event{}
		}
		values[same.Text][distinct.Text] = e
		if len(values[same.Text]) >= w.AtLeast {
			return proven(incident.Yes, e.Location(), "")
		}
	}
	return proof{holds: incident.No}
}

// compare compares a fact with another one of the message, or with a literal.
// Two sizes whose roundings overlap do not decide.
func compare(facts map[string]incident.Fact, w *signatures.When) incident.Answer {
	a, ok := facts[w.Fact]
	if !ok {
		return incident.Unknown
	}
	if w.Op == "" {
		return incident.Yes
	}
	b, ok := facts[w.Than]
	if !ok {
		if b, ok = literal(w.Than, a.Kind); !ok {
			return incident.Unknown
		}
	}
	if a.Kind == incident.KindText || b.Kind == incident.KindText {
		switch w.Op {
		case "=":
			return answer(a.Text == b.Text).holds
		case "!=":
			return answer(a.Text != b.Text).holds
		}
		return incident.Unknown
	}
	times := w.Times
	if times == 0 {
		times = 1
	}
	low, high := interval(a)
	otherLow, otherHigh := interval(b)
	return compareIntervals(low, high, w.Op, otherLow*times, otherHigh*times)
}

func interval(f incident.Fact) (low, high float64) {
	switch f.Kind {
	case incident.KindSize:
		return float64(f.Size.Low), float64(f.Size.High)
	case incident.KindInt:
		return float64(f.Int), float64(f.Int)
	}
	return f.Number, f.Number
}

// literal reads a condition's literal as a fact of the kind that it is compared
// with. What a condition states is exact.
func literal(text string, kind incident.Kind) (incident.Fact, bool) {
	f := incident.Fact{Kind: kind, Text: text}
	switch kind {
	case incident.KindSize:
		size, ok := memory.ParseSize(text)
		f.Size = incident.Size{Bytes: size.Bytes, Low: size.Bytes, High: size.Bytes}
		return f, ok
	case incident.KindInt:
		n, err := strconv.ParseInt(text, 10, 64)
		f.Int = n
		return f, err == nil
	case incident.KindNumber, incident.KindSeconds:
		n, err := strconv.ParseFloat(strings.TrimSuffix(text, "s"), 64)
		f.Number = n
		return f, err == nil
	}
	return f, true
}

func compareIntervals(low, high float64, op string, otherLow, otherHigh float64) incident.Answer {
	decide := func(yes, no bool) incident.Answer {
		switch {
		case yes:
			return incident.Yes
		case no:
			return incident.No
		}
		return incident.Unknown
	}
	switch op {
	case "<":
		return decide(high < otherLow, low >= otherHigh)
	case "<=":
		return decide(high <= otherLow, low > otherHigh)
	case ">":
		return decide(low > otherHigh, high <= otherLow)
	case ">=":
		return decide(low >= otherHigh, high < otherLow)
	case "=":
		return decide(low == high && otherLow == otherHigh && low == otherLow, high < otherLow || low > otherHigh)
	case "!=":
		return decide(high < otherLow || low > otherHigh, low == high && otherLow == otherHigh && low == otherLow)
	}
	return incident.Unknown
}

func (q *Inquiry) phase(name string, e *message.Event) proof {
	if e == nil && (name == "capture" || name == "replay") {
		return proof{holds: incident.Unknown}
	}
	switch name {
	case "capture":
		return q.inCapture(e)
	case "replay":
		return q.inReplay(e)
	case "captures-seen":
		return q.capturesSeen(e)
	case "graphs-off":
		return q.graphsOff()
	case "captures-differ":
		return q.capturesDiffer()
	}
	return proof{holds: incident.Unknown}
}

func (q *Inquiry) hasFrame(w *signatures.When, e *message.Event) proof {
	chain := q.chain(e)
	for _, tb := range chain {
		for _, f := range tb.Frames {
			if strings.Contains(f.Path, w.Frame) && (w.Function == "" || f.Function == w.Function) {
				return proven(incident.Yes, tb.First.Location(), f.Function+" in "+short(f.Path))
			}
		}
	}
	if len(chain) > 0 && !chain[0].Headless {
		return proof{holds: incident.No}
	}
	return proof{holds: incident.Unknown}
}

// hasSource: a source line that the traceback shows contains the text.
func (q *Inquiry) hasSource(w *signatures.When, e *message.Event) proof {
	result := proof{holds: incident.Unknown}
	for _, tb := range q.chain(e) {
		for _, f := range tb.Frames {
			if strings.Contains(f.Text, w.Source) {
				return proven(incident.Yes, tb.First.Location(), f.Function+" in "+short(f.Path))
			}
			if f.Text != "" {
				result.holds = incident.No
			}
		}
	}
	return result
}

func hasText(w *signatures.When, e *message.Event) proof {
	if e == nil {
		return proof{holds: incident.Unknown}
	}
	if strings.Contains(e.At.Text, w.Text) {
		return proven(incident.Yes, e.At.Location(), "")
	}
	return proof{holds: incident.No}
}

// trend: a memory series of the initiator, or of the only process, goes as asked.
func (q *Inquiry) trend(w *signatures.When, e *message.Event) proof {
	for _, t := range q.Tracks {
		if string(t.Metric) != w.Metric {
			continue
		}
		if e != nil && e.Origin.Rank != nil && t.Origin.Rank != nil && *e.Origin.Rank != *t.Origin.Rank {
			continue
		}
		if t.Trend() == w.Trend {
			last := t.Readings[len(t.Readings)-1]
			return proven(incident.Yes, last.At, "")
		}
	}
	return proof{holds: incident.Unknown}
}
