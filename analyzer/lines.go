package analyzer

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/graphtrap/graphtrap/analyzer/cause"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// lines decodes single lines of the files of one analysis.
type lines struct {
	set     *signatures.Set
	files   []File
	layouts []line.Layout
	run     *timeline.Run
	roles   map[*message.Event]incident.Role
	// initiated finds the time of the initiating event, once.
	initiated func() initiation
}

func newLines(set *signatures.Set, files []File, layouts []line.Layout, run *timeline.Run, c cause.Conclusion) *lines {
	l := &lines{set: set, files: files, layouts: layouts, run: run, roles: c.Roles}
	l.initiated = sync.OnceValue(func() initiation { return l.findInitiation(&c.Verdict) })
	return l
}

// Line decodes one line of the file with an index, given without its LF, with its
// offset in the file and its number (from 1), which is only put into the line's
// location. Lines are decoded when they are asked
// for; nothing of the whole file is kept for it. The first call for an incident whose
// initiating line prints no time reads a little of that line's file.
func (a *Analysis) Line(file int, raw []byte, number, offset int64) []incident.Line {
	l := a.lines
	if l == nil || file < 0 || file >= len(l.layouts) || file >= len(a.Report.Input.Files) {
		return nil
	}
	known := l.events(file, offset)
	var out []incident.Line
	for _, piece := range line.Decode(raw, l.layouts[file]) {
		p := line.Placed{
			Piece: piece, File: file, Path: a.Report.Input.Files[file].Path,
			Number: number, Start: offset, Length: len(raw),
		}
		p.Origin = p.Origin.Or(l.files[file].Origin)
		here := slices.DeleteFunc(slices.Clone(known), func(e *message.Event) bool { return e.At.Column(0) != p.Column(0) })
		decoded := l.decode(p, here)
		who, when := line.Prefix(raw, l.layouts[file], piece)
		decoded.Who, decoded.When = stretch(who, offset), stretch(when, offset)
		out = append(out, decoded)
	}
	return out
}

func stretch(c line.Columns, offset int64) incident.Stretch {
	return incident.Stretch{Offset: offset + int64(c.From), EndOffset: offset + int64(c.To)}
}

// events are the events of the analysis on the line at an offset. All events are in
// the order of the files and, within one, of the lines.
func (l *lines) events(file int, offset int64) []*message.Event {
	all := l.run.All
	from := sort.Search(len(all), func(i int) bool {
		return all[i].At.File > file || all[i].At.File == file && all[i].At.Start >= offset
	})
	to := from
	for to < len(all) && all[to].At.File == file && all[to].At.Start == offset {
		to++
	}
	return all[from:to]
}

// decode says what is known of a piece. The events that the analysis has found there
// know more than the line alone: what the lines behind it go on to say, and who
// printed the traceback that it ends.
func (l *lines) decode(p line.Placed, known []*message.Event) incident.Line {
	events := message.OnLine(p, l.set)
	decode(events)
	printer, at := p.Origin, p.Stamp.Time()
	for i, e := range events {
		if k := slices.IndexFunc(known, func(k *message.Event) bool { return k.ID == e.ID }); k >= 0 {
			events[i] = known[k]
		}
	}
	for _, k := range known {
		printer = k.At.Origin
		if at == nil {
			at = k.Time
		}
		if !slices.Contains(events, k) {
			events = append(events, k) // a whole traceback, or several lines, made it
		}
	}
	out := incident.Line{
		Origin: l.run.Resolve(printer), RankSaid: p.Origin.Rank != nil,
		Time: at, Since: l.since(at), Text: p.Location(),
	}
	for _, e := range events {
		out.Messages = append(out.Messages, l.message(e, slices.Contains(known, e)))
	}
	return out
}

// message shapes an event; placed is set for one whose process the analysis has found.
func (l *lines) message(e *message.Event, placed bool) incident.Message {
	m := incident.Message{ID: e.ID, Role: e.Role, Facts: e.Facts}
	if role := l.roles[e]; role != "" {
		m.Role = role
	}
	if e.Message == nil {
		m.Says, m.Told = fmt.Sprintf("It raised %s, an exception that no signature knows.", e.Facts["exception"].Text), []string{"exception"}
		return m
	}
	m.Source, m.Capture, m.Told = e.Message.Source, e.Message.Capture, e.Message.Tells()
	if says, ok := cause.Says(e); ok {
		m.Says = says
	}
	if placed && e.Named() {
		m.About = e.Origin
	}
	for name, f := range e.Facts {
		if words, ok := l.set.Means(e.ID, name, f.Text); ok {
			if m.Means == nil {
				m.Means = map[string]string{}
			}
			m.Means[name] = words
		}
	}
	return m
}
