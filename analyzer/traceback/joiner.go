package traceback

import (
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Part is what a piece is to a traceback.
type Part int

// The parts. A source line quotes code and is never a message of the program;
// a header, a stated exception and a line behind it may be.
const (
	None   Part = iota
	Head        // "Traceback (most recent call last):"
	Frame       // File "...", line 1, in f
	Source      // the quoted source line, carets, notebook context
	Stated      // the exception's line
	Tail        // a line of the exception's message, or between chained tracebacks
)

// Bounds on what an open traceback waits for.
const (
	// maxForeign is how many lines that do not belong to it, of the same
	// process, a traceback survives while its exception is still to come.
	maxForeign = 40
	// maxTail is how many lines behind an exception are looked at for the rest
	// of its message or for a chained traceback.
	maxTail = 60
	// maxOpen bounds the processes followed at once.
	maxOpen = 4096
	// maxSilence is how many lines of the whole file a process may print
	// nothing of its open traceback; maxSilenceDone the same once its
	// exception was stated and only a chained one could follow.
	maxSilence     = 4000
	maxSilenceDone = 400
	sweepEvery     = 128
)

// Joiner gathers tracebacks from the pieces of one log.
type Joiner struct {
	streams map[stream]*open
	// loose is the open traceback whose header had a prefix and whose other
	// lines have less of it: SGLang prefixes the first line only, and where Ray
	// runs it, Ray's own prefix is on every line.
	loose *open
	done  []*Traceback
	swept int64 // the line at which silent tracebacks were last closed
}

// stream identifies the process that a piece belongs to, as far as the piece tells.
type stream struct {
	origin incident.Key
	std    string // only where nothing else is known
}

func streamOf(o incident.Origin) stream {
	s := stream{origin: o.Key()}
	if !o.Known() {
		s.std = o.Stream
	}
	return s
}

// open is a traceback that may go on.
type open struct {
	key     stream
	tb      *Traceback
	link    Link // seen behind the exception: the next header is chained
	foreign int
	tail    int
	indent  int // of the header, so that nested output does not confuse it
	book    bool
	// prefixed: its lines have prefixes, not only its header.
	prefixed bool
	latest   int64 // the number of its latest line
}

// NewJoiner returns a joiner for the lines of one file.
func NewJoiner() *Joiner { return &Joiner{streams: map[stream]*open{}} }

// Waiting reports whether a traceback is open, so that lines that follow matter.
func (j *Joiner) Waiting() bool { return len(j.streams) > 0 }

// Done returns the tracebacks gathered so far, in the order of their first lines,
// those still open included.
func (j *Joiner) Done() []*Traceback { return j.done }

// Forget drops the tracebacks gathered so far that cannot go on, for one who is
// told of them line by line.
func (j *Joiner) Forget() {
	open := map[*Traceback]bool{}
	for _, o := range j.streams {
		open[o.tb] = true
	}
	if j.loose != nil {
		open[j.loose.tb] = true
	}
	j.done = slices.DeleteFunc(j.done, func(tb *Traceback) bool { return !open[tb] })
}

// Add takes the next piece of the log. It returns what the piece is and the
// traceback that it belongs to, nil if none.
func (j *Joiner) Add(p line.Placed) (Part, *Traceback) {
	j.sweep(p.Number)
	if strings.Contains(p.Text, Header) {
		return Head, j.head(p)
	}
	o := j.find(p)
	if o == nil {
		if f, ok := parseFrame(p.Text); ok {
			return Frame, j.headless(p, f)
		}
		return None, nil
	}
	if p.Prefixed && streamOf(p.Origin) == o.key {
		o.prefixed = true
	}
	part := o.add(p)
	if part != None {
		o.latest = p.Number
	}
	switch part {
	case None:
		if o.foreign > maxForeign || o.tail > maxTail || o.closed() {
			j.close(o)
		}
		return None, nil
	case Stated, Tail, Frame, Source, Head:
		if part != Tail {
			o.tb.Last = p
		}
	}
	return part, o.tb
}

// find returns the open traceback that the piece may belong to.
func (j *Joiner) find(p line.Placed) *open {
	if j.loose != nil && !j.loose.prefixed && (!p.Prefixed || j.loose.tb.Outer(p.Origin)) {
		return j.loose
	}
	return j.streams[streamOf(p.Origin)]
}

// sweep closes tracebacks whose process fell silent.
func (j *Joiner) sweep(now int64) {
	if now < j.swept+sweepEvery {
		return
	}
	j.swept = now
	for _, o := range j.streams {
		limit := int64(maxSilence)
		if o.tb.Complete() {
			limit = maxSilenceDone
		}
		if now > o.latest+limit {
			j.close(o)
		}
	}
}

func (j *Joiner) head(p line.Placed) *Traceback {
	key := streamOf(p.Origin)
	tb := &Traceback{Origin: p.Origin, First: p, Last: p}
	before := j.streams[key]
	if j.loose != nil && j.loose.link != First && (!p.Prefixed || j.loose.tb.Outer(p.Origin)) {
		before = j.loose
		key = before.key
	}
	if before != nil && before.link != First && before.tb.Complete() {
		tb.Above, tb.Link = before.tb, before.link
		tb.Origin = before.tb.Origin
	}
	o := &open{key: key, tb: tb, indent: indent(p.Text), book: !strings.Contains(p.Text, Header+":"), latest: p.Number}
	if len(j.streams) < maxOpen || before != nil {
		j.streams[key] = o
	}
	if p.Prefixed || before != nil && before == j.loose {
		j.loose = o
	} else {
		j.loose = nil
	}
	j.done = append(j.done, tb)
	return tb
}

func (j *Joiner) headless(p line.Placed, f incident.Frame) *Traceback {
	tb := &Traceback{Origin: p.Origin, First: p, Last: p, Headless: true, Frames: []incident.Frame{f}}
	key := streamOf(p.Origin)
	if len(j.streams) < maxOpen {
		j.streams[key] = &open{key: key, tb: tb, indent: max(0, indent(p.Text)-2), latest: p.Number}
	}
	j.done = append(j.done, tb)
	return tb
}

func (j *Joiner) close(o *open) {
	if j.streams[o.key] == o {
		delete(j.streams, o.key)
	}
	if j.loose == o {
		j.loose = nil
	}
}

// closed reports that nothing can follow: the exception is stated and another
// kind of line came.
func (o *open) closed() bool {
	return o.tb.Complete() && o.tail > 0 && o.link == First && o.foreign > 0
}

// add classifies a piece against the open traceback.
func (o *open) add(p line.Placed) Part {
	if o.tb.Complete() {
		return o.behind(p)
	}
	text := p.Text
	if (p.Level != 0 || p.Source != "") && otherRecord(p, o.tb.First) {
		o.foreign++
		return None
	}
	if f, ok := parseFrame(text); ok {
		o.frame(f)
		return Frame
	}
	if rule.MatchString(text) { // the launcher's table begins: the traceback was cut off
		o.foreign = maxForeign + 1
		return None
	}
	if o.book {
		if part := o.notebook(text); part != None {
			return part
		}
	}
	trimmed := strings.TrimLeft(text, " \t|")
	depth := len(text) - len(trimmed)
	switch {
	case trimmed == "":
		return Source
	case caretLine.MatchString(text):
		return Source
	case depth > o.indent+1 && len(o.tb.Frames) > 0 && !stamped(p):
		if last := &o.tb.Frames[len(o.tb.Frames)-1]; last.Text == "" && depth >= o.indent+4 {
			last.Text = strings.TrimSpace(trimmed)
		}
		return Source
	}
	if name := exception(trimmed); name != "" && (len(o.tb.Frames) > 0 || o.book) && depth <= o.indent+1 {
		o.tb.Exception, o.tb.Stated = name, p
		return Stated
	}
	o.foreign++
	return None
}

// notebook reads the lines that only IPython prints.
func (o *open) notebook(text string) Part {
	if m := arrowLine.FindStringSubmatch(text); m != nil {
		if n := len(o.tb.Frames); n > 0 && o.tb.Frames[n-1].Text == "" {
			f := &o.tb.Frames[n-1]
			f.Text = strings.TrimSpace(m[2])
			if f.Line == 0 {
				f.Line = lineNumber(m[1])
			}
		}
		return Source
	}
	if f, ok := parseNotebookFrame(text); ok {
		o.frame(f)
		return Frame
	}
	if notebookCode.MatchString(text) {
		return Source
	}
	return None
}

func (o *open) frame(f incident.Frame) {
	if len(o.tb.Frames) >= MaxFrames { // keep the outermost and the innermost
		copy(o.tb.Frames[MaxFrames/2:], o.tb.Frames[MaxFrames/2+1:])
		o.tb.Frames = o.tb.Frames[:MaxFrames-1]
	}
	o.tb.Frames = append(o.tb.Frames, f)
}

// behind classifies a piece that follows the exception's line.
func (o *open) behind(p line.Placed) Part {
	o.tail++
	if l := link(p.Text); l != First {
		o.link = l
		return Tail
	}
	if strings.TrimSpace(p.Text) == "" {
		return Tail
	}
	if _, ok := parseFrame(p.Text); ok {
		o.tail = 1 // the message holds a traceback of its own, as Ray's do
	}
	if o.link != First || otherRecord(p, o.tb.Stated) {
		o.foreign++
		return None
	}
	return Tail
}

// otherRecord reports whether p was printed by another logging call than q: the
// lines of one traceback that a logger printed all carry the same prefix, and a
// line with a time does not go on with one that had none.
func otherRecord(p, q line.Placed) bool {
	return p.Level != q.Level || p.Source != q.Source || p.Stamp.Text != "" && q.Stamp.Text == ""
}

// stamped reports whether the piece starts a log record of its own; the lines of
// one traceback that a logger printed all carry the same stamp.
func stamped(p line.Placed) bool { return p.Stamp.Text != "" && p.Source == "" && p.Level != 0 }

// indent is where a text begins; an exception group draws bars in front.
func indent(text string) int {
	rest := strings.TrimLeft(text, " \t|")
	if strings.HasPrefix(rest, "+ Exception Group ") {
		rest = rest[len("+ "):]
	}
	return len(text) - len(rest)
}
