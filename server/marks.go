package server

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/position"
)

// maxMarks bounds the lines that are marked in one document.
const maxMarks = 2000

// mark is a stretch of the document that the report speaks of.
type mark struct {
	kind       markKind
	start, end int // bytes of the text; never empty unless the text is
	// offset is where the report says that it starts.
	offset     int64
	initiator  *incident.Initiator  // of markInitiator, if known, and markCoInitiator
	collateral *incident.Collateral // of markCollateral
}

type markKind int

const (
	markInitiator markKind = iota
	markCoInitiator
	markCollateral
)

// marks are the lines that the report speaks of: first the one that bears the
// verdict, then those that failed by themselves at the same time, then the
// collateral ones. No line is marked twice. A report without a failure has none.
func marks(r *incident.Report, text *position.Text) []mark {
	v := &r.Verdict
	if v.Status != incident.Diagnosed && v.Status != incident.Undetermined {
		return nil
	}
	var found []mark
	taken := map[int]bool{}
	add := func(m mark, at *incident.Location) {
		m.start, m.end = stretch(text, at)
		if line := text.Line(m.start); len(found) < maxMarks && !taken[line] {
			taken[line] = true
			m.offset = at.Offset
			found = append(found, m)
		}
	}
	add(mark{kind: markInitiator, initiator: v.Initiator}, bestLine(r))
	for i := range v.CoInitiators {
		if at := statedAt(&v.CoInitiators[i]); at != nil {
			add(mark{kind: markCoInitiator, initiator: &v.CoInitiators[i]}, at)
		}
	}
	for i := range v.Collateral {
		if at := &v.Collateral[i].Location; isSet(at) {
			add(mark{kind: markCollateral, collateral: &v.Collateral[i]}, at)
		}
	}
	return found
}

// statedAt is the line of an initiator; nil when it is known by absence only.
func statedAt(i *incident.Initiator) *incident.Location {
	switch {
	case i == nil:
		return nil
	case i.StatedAt != nil:
		return i.StatedAt
	}
	return i.Location
}

// bestLine is where the verdict is shown: the line that states the failure, else
// the best evidence, else any line that the report names.
func bestLine(r *incident.Report) *incident.Location {
	v := &r.Verdict
	if at := statedAt(v.Initiator); at != nil {
		return at
	}
	for _, weight := range []incident.Weight{incident.Supports, incident.Refutes, incident.Neutral} {
		for i := range v.Evidence {
			if e := &v.Evidence[i]; e.For == weight && isSet(&e.Location) {
				return &e.Location
			}
		}
	}
	for i := range v.Collateral {
		if isSet(&v.Collateral[i].Location) {
			return &v.Collateral[i].Location
		}
	}
	for i := range r.Events {
		if isSet(&r.Events[i].Location) {
			return &r.Events[i].Location
		}
	}
	return &incident.Location{}
}

func isSet(at *incident.Location) bool { return at.EndOffset > at.Offset }

// stretch is the part of the text in which a location is shown: one line of the
// editor's. A block, such as a traceback, has lines of other processes between
// its own, so its first line stands for it. A single line of the report's that
// the editor shows as several, because a progress bar was rewritten on it, is
// stood for by the last that has something on it, which is what a terminal shows.
func stretch(text *position.Text, at *incident.Location) (start, end int) {
	start = int(min(max(at.Offset, 0), int64(text.Len())))
	end = int(min(max(at.EndOffset, at.Offset), int64(text.Len())))
	line := text.Line(start)
	if at.EndLine <= at.Line {
		for last := text.Line(max(start, end-1)); last > line; last-- {
			if s, e := text.Bounds(last); min(e, end) > s {
				return s, min(e, end)
			}
		}
	}
	_, lineEnd := text.Bounds(line)
	if end = min(end, lineEnd); end <= start {
		start, end = text.Bounds(line) // nothing on it was meant: show the whole line
	}
	return start, end
}

// on reports whether the mark's line is among those from first to last.
func (m mark) on(text *position.Text, first, last int) bool {
	line := text.Line(m.start)
	return first <= line && line <= last
}

// name is how the user is told of a process; empty when nothing is known of it.
func name(i *incident.Initiator) string {
	if i == nil {
		return ""
	}
	origin := incident.Origin{Rank: i.Rank, LocalRank: i.LocalRank, PID: i.PID}
	if i.Host != nil {
		origin.Host = *i.Host
	}
	if i.Process != nil {
		origin.Process = *i.Process
	}
	return origin.Name()
}

// place names a line as the editor numbers it.
func place(text *position.Text, offset int) string {
	return fmt.Sprintf("line %d", text.Line(offset)+1)
}
