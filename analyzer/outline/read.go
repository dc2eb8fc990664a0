package outline

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
)

const (
	// checkEvery is after how many lines a reader looks whether it is to go on.
	checkEvery = 4096
	// maxLauncherMark is enough of a line to see whether it begins or ends a
	// launcher's block, in bytes.
	maxLauncherMark = 64
)

// row is one line of the file.
type row struct {
	start, end int64 // end is where the next line starts
	blank      bool
	who        int // of reader.printers, -1 if not known
	part       traceback.Part
	tb         *traceback.Traceback // for a header, a frame, a source line and a stated exception
	frame      bool
}

// Read makes the outline of a file. It fails only when ctx is done.
func Read(ctx context.Context, src Source) (*Outline, error) { return Follow(ctx, src, nil, 0) }

// Follow is [Read], which it never differs from, for a file that was read before
// and has since changed behind its first same bytes: the lines that were whole then
// are not read again. earlier is the outline of that time, nil if there is none; it
// may be followed any number of times. When it fails, because ctx is done, the
// outline tells nothing but may be followed: what was read is not lost.
func Follow(ctx context.Context, src Source, earlier *Outline, same int64) (*Outline, error) {
	var r *reader
	if earlier != nil && earlier.kept != nil && earlier.kept.at <= same && earlier.kept.layout == src.Layout {
		r = earlier.kept.clone()
	} else {
		r = newReader(src.Layout)
	}
	r.text, r.prefixes = src.Text, scan.NewPrefixes(src.Layout)
	whole := int64(bytes.LastIndexByte(src.Text, '\n') + 1)
	err := r.readTo(ctx, whole)
	r.joiner.Forget()
	kept, out := r, &Outline{}
	if err == nil && whole < int64(len(src.Text)) { // the last line may go on
		kept = r.clone()
		err = r.readTo(ctx, int64(len(src.Text)))
	}
	if err == nil {
		out = r.finish(src)
	}
	kept.text, kept.prefixes = nil, nil // what is kept has nothing of the text
	out.kept = kept
	return out, err
}

// reader has read the lines in front of at. What it holds does not depend on who
// is who, nor on which lines matter: both may change when the file grows.
type reader struct {
	layout line.Layout
	at     int64
	number int64 // of the next line, from 1

	text     []byte
	prefixes *scan.Prefixes
	marks    [2]mark

	joiner   *traceback.Joiner
	launcher message.Block
	// printers are who printed something, as the lines tell it.
	printers  []printer
	known     map[incident.Key]int
	stretches []stretch
	frames    []Frame
	// latest is the latest frame of each open traceback, an index of frames.
	latest map[*traceback.Traceback]int

	repeats repeats
	open    Fold // the traceback that the line before belongs to
	tb      *traceback.Traceback
	// firm are the tracebacks and repetitions, which never overlap.
	firm []Fold

	printersCut, stretchesCut, foldsCut, framesCut bool
}

type printer struct {
	origin incident.Origin
	first  int64
}

// stretch is a [Stretch] of a printer as the lines tell it.
type stretch struct {
	start, end int64
	last       int64 // the end of its last line that is not blank
	lines      int   // that are not blank
	printer    int
}

func newReader(layout line.Layout) *reader {
	return &reader{
		layout: layout, number: 1, joiner: traceback.NewJoiner(),
		known: map[incident.Key]int{}, latest: map[*traceback.Traceback]int{},
	}
}

// clone returns a reader that goes on from here by itself: what becomes of the one
// does not show in the other.
func (r *reader) clone() *reader {
	c := *r
	c.marks = [2]mark{}
	tracebacks := map[*traceback.Traceback]*traceback.Traceback{}
	c.joiner = r.joiner.Clone(tracebacks)
	c.tb = tracebacks[r.tb]
	c.printers, c.known = slices.Clone(r.printers), maps.Clone(r.known)
	c.stretches, c.frames, c.firm = slices.Clone(r.stretches), slices.Clone(r.frames), slices.Clone(r.firm)
	c.latest = map[*traceback.Traceback]int{}
	for tb, i := range r.latest {
		if copied := tracebacks[tb]; copied != nil {
			c.latest[copied] = i
		}
	}
	return &c
}

// readTo reads the lines up to an offset, which is the end of a line or of the text.
func (r *reader) readTo(ctx context.Context, to int64) error {
	for ; r.at < to; r.number++ {
		if r.number%checkEvery == 1 {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.joiner.Forget()
		}
		raw, next := r.text[r.at:], int64(len(r.text))
		if i := bytes.IndexByte(raw, '\n'); i >= 0 {
			raw, next = raw[:i], r.at+int64(i)+1
		}
		l := r.line(raw)
		l.end = next
		r.stretch(l)
		r.fold(l, raw)
		r.at = next
	}
	return nil
}

// mark finds the places where a text stands.
type mark struct {
	next  int64 // the first place at or behind the current line
	known bool
}

// decoded are the texts that make a line worth decoding.
var decoded = [...]string{traceback.Header, traceback.FrameMark}

// stands reports whether one of them stands in the line that ends at an offset.
func (r *reader) stands(end int64) bool {
	for i, text := range decoded {
		m := &r.marks[i]
		if !m.known || m.next < r.at {
			m.next, m.known = int64(len(r.text)), true
			if i := bytes.Index(r.text[r.at:], []byte(text)); i >= 0 {
				m.next = r.at + int64(i)
			}
		}
		if m.next < end {
			return true
		}
	}
	return false
}

// line says what is known of the next line by itself and by the tracebacks above it.
func (r *reader) line(raw []byte) row {
	l := row{start: r.at, who: -1, blank: len(bytes.TrimRight(raw, "\r \t")) == 0}
	decode := r.joiner.Waiting() || r.stands(r.at+int64(len(raw)))
	if l.blank && !decode {
		return l
	}
	var origin incident.Origin
	switch {
	case decode:
		origin = r.decode(&l, raw)
	case raw[0] == '-' && r.launcher.Marks(string(raw[:min(len(raw), maxLauncherMark)])):
		return l
	default:
		origin = r.prefixes.Origin(raw)
	}
	if !origin.Known() {
		origin = r.launcher.Origin
	}
	if origin.Known() && !l.blank {
		l.who = r.printer(origin, l.start)
	}
	return l
}

// decode reads a line that may belong to a traceback, and returns who printed it.
func (r *reader) decode(l *row, raw []byte) (origin incident.Origin) {
	for _, piece := range line.Decode(raw, r.layout) {
		if r.launcher.Marks(piece.Text) {
			continue
		}
		p := line.Placed{Piece: piece, Number: r.number, Start: l.start, Length: len(raw)}
		if !p.Origin.Known() {
			p.Origin = p.Origin.Or(r.launcher.Origin)
		}
		part, tb := r.joiner.Add(p)
		if part != traceback.None && (!p.Origin.Known() || tb.Outer(p.Origin)) {
			p.Origin = tb.Origin // only the first line of the traceback has its whole prefix
		}
		if !origin.Known() {
			origin = p.Origin
		}
		r.place(p, part, tb, l)
		if part != traceback.None && part != traceback.Tail && l.tb == nil {
			l.part, l.tb = part, tb
		}
	}
	return origin
}

// place notes a frame, or the source line that belongs to the one above it.
func (r *reader) place(p line.Placed, part traceback.Part, tb *traceback.Traceback, l *row) {
	end := l.start + int64(p.Length)
	if frame, from, to, ok := traceback.Place(part, p.Text); ok {
		l.frame = true
		if len(r.frames) >= MaxFrames {
			r.framesCut = true
			return
		}
		if tb != nil {
			r.latest[tb] = len(r.frames)
		}
		// A part of the line would keep all of it in memory.
		frame.Path, frame.Function = strings.Clone(frame.Path), strings.Clone(frame.Function)
		at := p.Range(from, to)
		r.frames = append(r.frames, Frame{Frame: frame, LineStart: l.start, LineEnd: end, Start: at.Offset, End: at.EndOffset})
		return
	}
	i, open := r.latest[tb]
	if !open {
		return
	}
	if part != traceback.Source {
		delete(r.latest, tb)
		return
	}
	if f, read := &r.frames[i], tb.Frames[len(tb.Frames)-1]; f.Text == "" && read.Text != "" {
		f.Text = strings.Clone(read.Text[:min(len(read.Text), incident.MaxLocationText)])
		f.Frame.Line = read.Line // which a notebook prints with the source only
		f.QuoteStart, f.QuoteEnd = l.start, end
	}
}

// printer is the index of a printer, -1 if there are too many.
func (r *reader) printer(o incident.Origin, start int64) int {
	key := o.Key()
	i, ok := r.known[key]
	if ok {
		return i
	}
	if len(r.printers) >= MaxPrinters {
		r.printersCut = true
		return -1
	}
	i = len(r.printers)
	r.known[key] = i
	r.printers = append(r.printers, printer{o, start})
	return i
}

// stretch adds the line to the lines of its printer.
func (r *reader) stretch(l row) {
	n := len(r.stretches)
	var before *stretch
	if n > 0 && r.stretches[n-1].end == l.start {
		before = &r.stretches[n-1]
	}
	switch {
	case before != nil && l.blank:
		before.end = l.end
	case before != nil && before.printer == l.who:
		before.end, before.last = l.end, l.end
		before.lines++
	case l.who < 0:
	case n >= MaxStretches:
		r.stretchesCut = true
	default:
		r.stretches = append(r.stretches, stretch{l.start, l.end, l.end, 1, l.who})
	}
}

// finish makes the outline of what was read, and leaves the reader as it is.
func (r *reader) finish(src Source) *Outline {
	o := &Outline{Frames: slices.Clone(r.frames)}
	who := r.resolve(o, src.Resolve)
	blocks := r.join(o, who)
	o.Folds = nest(r.text, r.parts(src.Keep), blocks)
	for _, c := range []struct {
		cut  bool
		says string
	}{
		{r.printersCut, fmt.Sprintf("only the first %d printers are told apart", MaxPrinters)},
		{r.stretchesCut, fmt.Sprintf("behind the first %d changes of the printer it is not told who printed a line", MaxStretches)},
		{r.foldsCut || len(blocks) >= MaxFolds, fmt.Sprintf("only the first %d parts of a kind are told", MaxFolds)},
		{r.framesCut, fmt.Sprintf("only the first %d frames are told", MaxFrames)},
	} {
		if c.cut {
			o.Cut = append(o.Cut, c.says)
		}
	}
	return o
}

// resolve tells which printers are the same process, by their index.
func (r *reader) resolve(o *Outline, complete func(incident.Origin) incident.Origin) (who []int) {
	names := map[string]int{}
	for _, p := range r.printers {
		origin := p.origin
		if complete != nil {
			origin = complete(origin)
		}
		name := origin.Name()
		i, ok := names[name]
		if !ok {
			i = len(o.Printers)
			names[name] = i
			o.Printers = append(o.Printers, Printer{Name: name, Rank: origin.Rank, First: p.first})
		}
		who = append(who, i)
	}
	return who
}

// join makes one stretch of neighbours of the same process, and returns those that
// are worth folding.
func (r *reader) join(o *Outline, who []int) (blocks []Fold) {
	o.Stretches = make([]Stretch, 0, len(r.stretches))
	var block Fold
	end := func() {
		if block.Lines >= minBlock && len(blocks) < MaxFolds && len(o.Printers) > 1 {
			blocks = append(blocks, block)
		}
	}
	for _, s := range r.stretches {
		p := who[s.printer]
		if n := len(o.Stretches); n > 0 && o.Stretches[n-1].End == s.start && o.Stretches[n-1].Printer == p {
			o.Stretches[n-1].End = s.end
			block.End = s.last
			block.Lines += s.lines
			continue
		}
		end()
		o.Stretches = append(o.Stretches, Stretch{Start: s.start, End: s.end, Printer: p})
		block = Fold{Kind: Block, Start: s.start, End: s.last, Lines: s.lines, Printer: p}
	}
	end()
	return blocks
}
