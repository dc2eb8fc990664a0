package outline

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
)

// checkEvery is after how many lines a reader looks whether it is to go on.
const checkEvery = 4096

// maxLauncherMark is enough of a line to see whether it begins or ends a launcher's block.
const maxLauncherMark = 64

// row is one line of the file.
type row struct {
	start, end int64 // end is where the next line starts
	blank      bool
	who        int // index of the printer, -1 if not known
	part       traceback.Part
	tb         *traceback.Traceback // for a header, a frame, a source line and a stated exception
	frame      bool
}

// Read makes the outline of a file. It fails only when ctx is done.
func Read(ctx context.Context, src Source) (*Outline, error) {
	r := reader{
		src: src, prefixes: scan.NewPrefixes(src.Layout), joiner: traceback.NewJoiner(),
		origins: map[incident.Key]int{}, names: map[string]int{},
		frames: map[*traceback.Traceback]int{},
		marks: []*mark{
			{text: []byte(traceback.Header)}, {text: []byte(traceback.FrameMark)},
		},
	}
	text := src.Text
	for pos, number := 0, int64(1); pos < len(text); number++ {
		if number%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		end, next := len(text), len(text)
		if i := bytes.IndexByte(text[pos:], '\n'); i >= 0 {
			end, next = pos+i, pos+i+1
		}
		raw := text[pos:end]
		l := r.line(raw, number, int64(pos))
		l.end = int64(next)
		r.stretch(l)
		r.fold(l, raw)
		pos = next
	}
	r.traceback(row{part: traceback.None})
	r.endBlock()
	r.flush()
	if len(r.out.Printers) < 2 {
		r.blocks = nil // all that is printed is of one process
	}
	r.out.Folds = nest(text, r.firm, r.blocks)
	r.cuts()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &r.out, nil
}

type reader struct {
	src      Source
	out      Outline
	prefixes *scan.Prefixes
	joiner   *traceback.Joiner
	launcher message.Block
	origins  map[incident.Key]int
	names    map[string]int
	// frames is the latest frame of each open traceback, an index of out.Frames.
	frames map[*traceback.Traceback]int
	marks  []*mark

	repeats repeats
	keep    int // of src.Keep, those passed

	open  Fold // the traceback that the line before belongs to
	tb    *traceback.Traceback
	block Fold // the lines of one printer so far; Lines is 0 where there are none
	// firm are the tracebacks and repetitions, which never overlap; blocks give way
	// to them.
	firm, blocks []Fold

	printersCut, stretchesCut, foldsCut, framesCut bool
}

// mark is a text that makes a line worth decoding.
type mark struct {
	text []byte
	// next is the first place at or behind the current line where it stands.
	next  int64
	known bool
}

// stands reports whether one of the marks stands in the line with these bounds.
func (r *reader) stands(start, end int64) bool {
	for _, m := range r.marks {
		if !m.known || m.next < start {
			m.next, m.known = int64(len(r.src.Text)), true
			if i := bytes.Index(r.src.Text[start:], m.text); i >= 0 {
				m.next = start + int64(i)
			}
		}
		if m.next < end {
			return true
		}
	}
	return false
}

// line says what is known of a line by itself and by the tracebacks above it.
func (r *reader) line(raw []byte, number, start int64) row {
	l := row{start: start, who: -1, blank: len(bytes.TrimRight(raw, "\r \t")) == 0}
	decode := r.joiner.Waiting() || r.stands(start, start+int64(len(raw)))
	if l.blank && !decode {
		return l
	}
	var origin incident.Origin
	switch {
	case decode:
		origin = r.decode(&l, raw, number)
	case raw[0] == '-' && r.launcher.Marks(string(raw[:min(len(raw), maxLauncherMark)])):
		return l
	default:
		origin = r.prefixes.Origin(raw)
	}
	if !origin.Known() {
		origin = r.launcher.Origin
	}
	if origin.Known() && !l.blank {
		l.who = r.printer(origin, start)
	}
	return l
}

// decode reads a line that may belong to a traceback, and returns who printed it.
func (r *reader) decode(l *row, raw []byte, number int64) (origin incident.Origin) {
	for _, piece := range line.Decode(raw, r.src.Layout) {
		if r.launcher.Marks(piece.Text) {
			continue
		}
		p := line.Placed{Piece: piece, Number: number, Start: l.start, Length: len(raw)}
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
		r.place(p, part, tb, l, len(raw))
		if part != traceback.None && part != traceback.Tail && l.tb == nil {
			l.part, l.tb = part, tb
		}
	}
	return origin
}

// place notes a frame, or the source line that belongs to the one above it.
func (r *reader) place(p line.Placed, part traceback.Part, tb *traceback.Traceback, l *row, length int) {
	if frame, start, end, ok := traceback.Place(part, p.Text); ok {
		l.frame = true
		if len(r.out.Frames) >= MaxFrames {
			r.framesCut = true
			return
		}
		if tb != nil {
			r.frames[tb] = len(r.out.Frames)
		}
		// A part of the line would keep all of it in memory.
		frame.Path, frame.Function = strings.Clone(frame.Path), strings.Clone(frame.Function)
		at := p.Range(start, end)
		r.out.Frames = append(r.out.Frames, Frame{
			Frame: frame, LineStart: l.start, LineEnd: l.start + int64(length), Start: at.Offset, End: at.EndOffset,
		})
		return
	}
	i, open := r.frames[tb]
	if !open {
		return
	}
	f := &r.out.Frames[i]
	if part != traceback.Source {
		delete(r.frames, tb)
		return
	}
	if read := tb.Frames[len(tb.Frames)-1]; f.Text == "" && read.Text != "" {
		f.Text = strings.Clone(read.Text[:min(len(read.Text), incident.MaxLocationText)])
		f.Frame.Line = read.Line // which a notebook prints with the source only
		f.QuoteStart, f.QuoteEnd = l.start, l.start+int64(length)
	}
}

// printer is the index of a printer, -1 if there are too many.
func (r *reader) printer(o incident.Origin, start int64) int {
	key := o.Key()
	if i, ok := r.origins[key]; ok {
		return i
	}
	if len(r.origins) >= MaxPrinters {
		r.printersCut = true
		return -1
	}
	if r.src.Resolve != nil {
		o = r.src.Resolve(o)
	}
	name := o.Name()
	i, ok := r.names[name]
	if !ok {
		i = len(r.out.Printers)
		r.names[name] = i
		r.out.Printers = append(r.out.Printers, Printer{Name: name, Rank: o.Rank, First: start})
	}
	r.origins[key] = i
	return i
}

// stretch adds the line to the lines of its printer.
func (r *reader) stretch(l row) {
	n := len(r.out.Stretches)
	same := n > 0 && r.out.Stretches[n-1].End == l.start && (l.blank || r.out.Stretches[n-1].Printer == l.who)
	switch {
	case same:
		r.out.Stretches[n-1].End = l.end
	case l.blank || l.who < 0:
	case n >= MaxStretches:
		r.stretchesCut = true
	default:
		r.out.Stretches = append(r.out.Stretches, Stretch{Start: l.start, End: l.end, Printer: l.who})
	}
}

func (r *reader) cuts() {
	for _, c := range []struct {
		cut  bool
		says string
	}{
		{r.printersCut, fmt.Sprintf("only the first %d printers are told apart", MaxPrinters)},
		{r.stretchesCut, fmt.Sprintf("behind the first %d changes of the printer it is not told who printed a line", MaxStretches)},
		{r.foldsCut, fmt.Sprintf("only the first %d parts of a kind are told", MaxFolds)},
		{r.framesCut, fmt.Sprintf("only the first %d frames are told", MaxFrames)},
	} {
		if c.cut {
			r.out.Cut = append(r.out.Cut, c.says)
		}
	}
}
