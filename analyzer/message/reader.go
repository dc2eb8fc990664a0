package message

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
	"github.com/graphtrap/graphtrap/signatures"
)

// MaxEvents bounds the events kept of one file.
const MaxEvents = 200_000

// Source is the file that events are read from.
type Source struct {
	Index  int
	Path   string
	Data   io.ReaderAt
	Size   int64
	Layout line.Layout
	// Origin is what the file's path says of the process that wrote it.
	Origin incident.Origin
}

// Found is what one file says.
type Found struct {
	Events     []*Event
	Tracebacks []*traceback.Traceback
	// Tracks are the memory figures of lines that are no failure. DroppedFigures
	// counts those of series beyond memory.MaxTracks.
	Tracks         []*memory.Track
	DroppedFigures int
	// Dropped counts events beyond MaxEvents; events that are only context are
	// thinned out without being counted.
	Dropped int
}

// Anchors are the texts that lines are found by: those of the signatures, and the
// marks of tracebacks and of memory figures. Context that comes in any number and
// decides nothing (memory reports, advice) is ordinary.
func Anchors(set *signatures.Set) scan.Anchors {
	a := scan.Anchors{
		Vital:    []string{traceback.Header, traceback.FrameMark, blockBegin, blockEnd},
		Ordinary: memory.Anchors(),
	}
	for _, m := range set.Messages() {
		common := (m.Role == signatures.Context || m.Role == signatures.Advice) && m.About == "" && m.Capture == ""
		if common {
			a.Ordinary = append(a.Ordinary, m.Anchors...)
		} else {
			a.Vital = append(a.Vital, m.Anchors...)
		}
	}
	return a
}

// Read recognises messages in the hits of a scan and in the lines that tracebacks
// and wrapped messages go on over.
func Read(ctx context.Context, src Source, hits []scan.Hit, set *signatures.Set) (*Found, error) {
	r := newReader(src, set)
	if src.pasted() {
		if err := r.pasted(ctx); err != nil {
			return nil, err
		}
	} else if err := scan.Walk(ctx, src.Data, src.Size, hits, r.line); err != nil {
		return nil, err
	}
	return r.finish(), nil
}

// finish gathers what was found when all lines were read.
func (r *reader) finish() *Found {
	r.found.Tracebacks = r.joiner.Done()
	r.found.Tracks, r.found.DroppedFigures = r.memory.Tracks(), r.memory.Dropped()
	for _, c := range r.common {
		for _, l := range c.latest {
			l.event.read(l.match)
			r.found.Events = append(r.found.Events, l.event)
		}
	}
	r.exceptions()
	slices.SortStableFunc(r.found.Events, func(a, b *Event) int {
		return cmp.Or(cmp.Compare(a.At.Start, b.At.Start), cmp.Compare(a.At.Column(0), b.At.Column(0)), cmp.Compare(a.order, b.order))
	})
	return &r.found
}

type reader struct {
	src    Source
	set    *signatures.Set
	joiner *traceback.Joiner
	found  Found
	// figures reads the memory figures of the lines, memory gathers them.
	figures memory.Reader
	memory  memory.Recorder
	// common counts the context events of each message.
	common map[string]*recent
	order  int
	// wrapping is the latest event whose message may go on in the next line.
	wrapping *wrap
	partial  map[string]line.Placed // by stream: a container runtime's first part of a line
	block    Block
	relayed  *relayed
}

// wrap is a message whose end is looked for in the lines behind it.
type wrap struct {
	event *Event
	text  string
	left  int
}

// line takes a raw line and reports whether the next one matters too.
func (r *reader) line(raw scan.Raw) bool {
	for _, piece := range line.Decode(raw.Bytes, r.src.Layout) {
		p := line.Placed{
			Piece: piece, File: r.src.Index, Path: r.src.Path,
			Number: raw.Line, Start: raw.Offset, Length: raw.Length,
		}
		if p, ok := r.join(p); ok {
			r.piece(p)
		}
	}
	return r.joiner.Waiting() || r.wrapping != nil || len(r.partial) > 0 || r.figures.Waiting()
}

// join puts the parts of a line together that a container runtime split.
func (r *reader) join(p line.Placed) (line.Placed, bool) {
	if first, ok := r.partial[p.Origin.Stream]; ok && p.Origin.Stream != "" {
		partial := p.Partial
		first.Text += p.Text
		if partial && len(first.Text) < line.MaxText {
			r.partial[p.Origin.Stream] = first
			return p, false
		}
		delete(r.partial, p.Origin.Stream)
		first.Partial = false
		return first, true
	}
	if p.Partial {
		r.partial[p.Origin.Stream] = p
		return p, false
	}
	return p, true
}

func (r *reader) piece(p line.Placed) {
	if r.block.Marks(p.Text) {
		return
	}
	if !p.Origin.Known() {
		p.Origin = p.Origin.Or(r.block.Origin)
	}
	if !spoken(p.Text) {
		r.figures.Command(p.Text)
		return
	}
	p.Origin = p.Origin.Or(r.src.Origin)
	part, tb := r.joiner.Add(p)
	if part != traceback.None && tb != nil && (!p.Origin.Known() || tb.Outer(p.Origin)) {
		p.Origin = tb.Origin // only the first line of the traceback has its whole prefix
		if p.Stamp.Text == "" {
			p.Stamp = tb.First.Stamp
		}
	}
	if part == traceback.Head && tb != nil && tb.Above == nil && (!p.Origin.Known() || r.src.Origin.Known()) {
		r.continues(&p, tb)
	}
	relayed := r.relayedPiece(&p, part, tb)
	if part == traceback.Frame || part == traceback.Source {
		return
	}
	matches := r.set.Match(p.Text)
	if r.wrapping != nil && r.goesOn(p, part, matches) {
		return
	}
	for _, m := range matches {
		e := r.event(p, m)
		e.Relayed = relayed
		if part != traceback.None {
			e.Traceback = tb
		}
		if m.Message.About == "next" {
			e.read(m)
			r.relay(e, tb)
		}
		if n := m.Message.Wraps; n > 0 {
			e.read(m)
			r.wrapping = &wrap{event: e, text: p.Text, left: n}
		}
	}
	if !known(matches) {
		for _, reading := range r.figures.Read(p) {
			r.memory.Add(reading)
		}
	}
}

// known reports whether one of the matches is a failure, whose figures are its
// own and not a report of the run.
func known(matches []signatures.Match) bool {
	for _, m := range matches {
		if m.Message.Role == signatures.Initiator {
			return true
		}
	}
	return false
}

// OnLine recognises the messages of a single line, without what other lines say.
func OnLine(p line.Placed, set *signatures.Set) []*Event {
	if !spoken(p.Text) {
		return nil
	}
	r := &reader{set: set, common: map[string]*recent{}}
	var events []*Event
	for _, m := range set.Match(p.Text) {
		e := r.event(p, m)
		e.read(m)
		events = append(events, e)
	}
	return events
}

func (r *reader) event(p line.Placed, m signatures.Match) *Event {
	r.order++
	e := &Event{
		order: r.order,
		ID:    m.Message.ID, Role: incident.Role(m.Message.Role), Message: m.Message,
		At: p, Last: p, Start: m.Start, End: m.End, Origin: p.Origin,
	}
	if e.Role == incident.RoleInitiator && (p.Level == 'I' || p.Level == 'D' || p.Level == 'W') {
		e.Role = incident.RoleSymptom // told as information or a warning: the run went on
	}
	switch e.Role {
	case incident.RoleContext, incident.RoleAdvice, incident.RoleSymptom:
		r.keepRecent(e, m)
	default:
		e.read(m)
		r.keep(e)
	}
	return e
}

func (r *reader) keep(e *Event) {
	if len(r.found.Events) >= MaxEvents {
		r.found.Dropped++
		return
	}
	r.found.Events = append(r.found.Events, e)
}

// What is only context comes in any number (a memory report for each step): of
// each message the first maxFirst and the latest maxLatest are kept.
const (
	maxFirst  = 256
	maxLatest = 256
)

// recent holds the latest context events of one message in a ring.
type recent struct {
	first  int
	latest []unread
	next   int
}

// unread is an event whose match is read at the end, if it is still among the latest.
type unread struct {
	event *Event
	match signatures.Match
}

func (r *reader) keepRecent(e *Event, m signatures.Match) {
	c := r.common[e.ID]
	if c == nil {
		c = &recent{}
		r.common[e.ID] = c
	}
	switch {
	case c.first < maxFirst:
		c.first++
		e.read(m)
		r.found.Events = append(r.found.Events, e)
	case len(c.latest) < maxLatest:
		c.latest = append(c.latest, unread{e, m})
	default:
		c.latest[c.next] = unread{e, m}
		c.next = (c.next + 1) % maxLatest
	}
}

// goesOn adds the piece to the message above it if that gives more facts.
func (r *reader) goesOn(p line.Placed, part traceback.Part, matches []signatures.Match) bool {
	w := r.wrapping
	w.left--
	same := (part == traceback.Tail || part == traceback.None) &&
		(!p.Origin.Known() || p.Origin.Name() == w.event.At.Origin.Name())
	if len(matches) > 0 || !same || p.Text == "" || p.Stamp.Text != "" && p.Stamp.Text != w.event.At.Stamp.Text {
		if w.left <= 0 || len(matches) > 0 {
			r.wrapping = nil
		}
		return false
	}
	joined := w.text + " " + strings.TrimSpace(p.Text)
	w.text = joined
	if w.left <= 0 {
		r.wrapping = nil
	}
	for _, m := range r.set.Match(joined) {
		if m.Message != w.event.Message {
			continue
		}
		if captures := m.Facts(); len(captures) > len(w.event.Facts) {
			w.event.Facts, w.event.Last = facts(captures), p
			return true
		}
	}
	return false
}

// exceptions adds an event for every traceback whose exception no message knows.
func (r *reader) exceptions() {
	stated := map[*traceback.Traceback]bool{}
	for _, e := range r.found.Events {
		// A wrapper's words on the header's line state nothing: "Scheduler hit an
		// exception: Traceback (most recent call last):".
		tb := e.Traceback
		if tb == nil || e.At.Before(tb.Stated) {
			continue
		}
		switch e.Role {
		case incident.RoleContext, incident.RoleAdvice:
		case incident.RoleEcho: // behind the exception, a launcher's word about the job looks like its tail
			stated[tb] = stated[tb] || e.Message.About == "next" || e.At.Number == tb.Stated.Number
		default:
			stated[tb] = true
		}
	}
	for _, tb := range r.found.Tracebacks {
		if !tb.Complete() || stated[tb] || noFailure(tb.Exception) {
			continue
		}
		r.order++
		r.found.Events = append(r.found.Events, &Event{
			order: r.order,
			ID:    PythonException, Role: incident.RoleInitiator,
			Facts: map[string]incident.Fact{"exception": {Kind: incident.KindText, Text: tb.Exception}},
			At:    tb.Stated, Last: tb.Stated, End: len(tb.Stated.Text), Traceback: tb,
		})
		e := r.found.Events[len(r.found.Events)-1]
		if !e.At.Origin.Known() || tb.Relayed || tb.Outer(e.At.Origin) {
			e.At.Origin, e.Relayed = tb.Origin, tb.Relayed
		}
		if e.At.Stamp.Text == "" {
			e.At.Stamp = tb.First.Stamp
		}
		e.Origin, e.Time = e.At.Origin, e.At.Stamp.Time()
	}
}

// noFailure reports whether an exception is how a process is told to leave, or
// only holds others, which are printed behind it.
func noFailure(exception string) bool {
	switch exception[strings.LastIndexByte(exception, '.')+1:] {
	case "KeyboardInterrupt", "SystemExit", "GeneratorExit", "CancelledError", "BrokenPipeError", "SignalException",
		"ExceptionGroup", "BaseExceptionGroup":
		return true
	}
	return false
}
