// Package outline says of all lines of a file what an editor needs to show its
// parts: who printed each, which of them are a traceback, and which only repeat
// the lines before them. It reads every byte once, whatever the lines hold, and
// decodes a line only where a traceback may stand.
package outline

import (
	"sort"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Bounds of an outline. What they cut is said in [Outline.Cut].
const (
	// MaxPrinters bounds the processes told apart.
	MaxPrinters = 1 << 14
	// MaxStretches bounds the changes from one printer to another.
	MaxStretches = 1 << 20
	// MaxFolds bounds the parts, of each kind.
	MaxFolds = 1 << 16
	// MaxFrames bounds the frames of tracebacks.
	MaxFrames = 1 << 15
)

// Source is a file whose outline is read.
type Source struct {
	// Text is the whole file.
	Text []byte
	// Layout says which prefixes the file has.
	Layout line.Layout
	// Resolve completes who printed a line by what the log says of who is who; nil
	// leaves it as printed.
	Resolve func(incident.Origin) incident.Origin
	// Keep are offsets of lines that are never part of a repetition, ascending.
	Keep []int64
}

// Outline is what the lines of one file are. Offsets are bytes from its start.
type Outline struct {
	// Printers are who printed something, in order of appearance.
	Printers []Printer
	// Stretches are the lines by who printed them, in the order of the file; lines
	// of unknown printers stand in none.
	Stretches []Stretch
	// Folds are the parts that can be shown as one line, in the order of their
	// starts. One lies within another or outside of it.
	Folds []Fold
	// Frames are the frames of tracebacks, in the order of the file.
	Frames []Frame
	// Cut says which bound was hit; empty if none.
	Cut []string

	// kept is the reader behind the last whole line, for when the file has grown. It
	// is not changed any more.
	kept *reader
}

// Printer is a process that printed lines of the file.
type Printer struct {
	// Name is how a person is told of it: "rank 3", "EngineCore_DP0 pid 311".
	Name string
	// Rank is the global rank; nil if not known.
	Rank *int
	// First is where its first line starts.
	First int64
}

// Stretch is a run of whole lines of one printer. Blank lines within it count as
// its own.
type Stretch struct {
	Start, End int64
	// Printer is an index into [Outline.Printers].
	Printer int
}

// Kind is what a fold is of.
type Kind int

// The kinds of folds.
const (
	// Traceback is the part of a traceback in front of the exception's line that
	// no other process's lines interrupt.
	Traceback Kind = iota
	// Bar is a progress bar that was drawn again and again.
	Bar
	// Repeat is a run of lines, or of blocks of lines, that differ in numbers only.
	Repeat
	// Block is a run of lines of one printer.
	Block
)

// Fold is a part of the file: whole lines, from the start of the first to the
// start of the line behind the last.
type Fold struct {
	Kind       Kind
	Start, End int64
	// Lines counts the lines, and for a [Bar] how often it was drawn.
	Lines int
	// Frames counts the frames of a [Traceback].
	Frames int
	// Printer is the printer of a [Block], an index into [Outline.Printers].
	Printer int

	period int // of a [Repeat]: the lines of what is repeated
}

// Frame is a line of a traceback that names a place in a source file.
type Frame struct {
	incident.Frame
	// LineStart and LineEnd are the bounds of the whole line, Start and End those of
	// its part that names the file and the line.
	LineStart, LineEnd, Start, End int64
	// QuoteStart and QuoteEnd are the bounds of the line that quotes the source;
	// equal if there is none.
	QuoteStart, QuoteEnd int64
}

// PrinterAt is the index of who printed the line at an offset, -1 if not known.
func (o *Outline) PrinterAt(offset int64) int {
	i := sort.Search(len(o.Stretches), func(i int) bool { return o.Stretches[i].Start > offset }) - 1
	if i < 0 || offset >= o.Stretches[i].End {
		return -1
	}
	return o.Stretches[i].Printer
}
