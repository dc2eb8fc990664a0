// Package line turns one raw line of a log into what was meant: text without
// colour codes, progress-bar rewrites and prefixes, and the origin and time that
// the prefixes gave. Every byte of the text maps back to its raw column, because
// a diagnostic must stand on the characters that the user sees.
//
// Prefixes nest ("[default3]:[rank3]:[E1125 01:25:02 ProcessGroupNCCL.cpp:683] "),
// so they are peeled from the outside in and every value found is kept. The
// shapes are listed in layers.go, each above the real line that it is for.
package line

import (
	"bytes"
	"sort"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// MaxText bounds how much of a raw line is decoded, in bytes. Longer lines are
// configuration dumps and binary data; what matters of them stands in front.
const MaxText = 256 << 10

// Piece is one stretch of a raw line that one process printed. Most lines are
// one piece; a progress bar that another process's line was glued to gives two.
type Piece struct {
	Text   string
	Origin incident.Origin
	// Stamp is the printed time, as text, and how to read it; see [Stamp.Time].
	Stamp Stamp
	// Source is what the prefix says printed the line: "ProcessGroupNCCL.cpp:683".
	Source string
	// Level is the logging level in the prefix, as a capital letter: I, W, E, F, D; 0 if none.
	Level byte
	// Prefixed is true if anything was peeled off the front of the text.
	Prefixed bool
	// Partial marks a container runtime's piece of a longer line, which goes
	// on in the next line of the same stream.
	Partial bool

	columns columnMap
}

// Column returns the raw column, from 0, of the text's byte i. i may be the
// length of the text; the result is then just past the last byte.
func (p Piece) Column(i int) int { return p.columns.column(i) }

// EndColumn returns the raw column, from 0, just past the byte in front of the text's
// byte i, i > 0. Colour codes behind that byte do not belong to it.
func (p Piece) EndColumn(i int) int { return p.columns.end(i) }

// Decode splits a raw line, given without its LF, into pieces.
func Decode(raw []byte, layout Layout) []Piece {
	if len(raw) > MaxText {
		raw = raw[:MaxText]
	}
	raw = bytes.TrimSuffix(raw, []byte("\r"))
	var pieces []Piece
	for _, seg := range segments(raw) {
		if seg.start == 0 && bytes.HasPrefix(raw, []byte("\ufeff")) {
			seg.start = len("\ufeff") // a byte order mark
		}
		whole := Piece{}
		whole.Text, whole.columns = strip(raw[seg.start:seg.end], seg.start)
		for _, record := range unwrap(whole, layout) {
			for _, part := range splitBars(record.Text) {
				p := record
				p.Text, p.columns = record.Text[part.start:part.end], record.columns.from(part.start)
				peel(&p)
				pieces = append(pieces, p)
			}
		}
	}
	if len(pieces) > 1 {
		pieces = inherit(pieces)
	}
	return pieces
}

// unwrap takes a piece out of the JSON records and container prefixes around it,
// and splits a message of several lines, as a traceback in a JSON record is.
func unwrap(p Piece, layout Layout) []Piece {
	labels(&p, layout)
	for range maxLayers {
		if n := wrapper(&p, p.Text); n > 0 {
			p.cut(n)
			continue
		}
		break
	}
	extra, ok := unwrapJSON(&p)
	if !ok {
		return []Piece{p}
	}
	p.Prefixed = true
	out := splitLines(p)
	if extra != nil {
		extra.Prefixed = true
		out = append(out, splitLines(*extra)...)
	}
	return out
}

// splitLines cuts a decoded text at its line breaks; every part keeps the origin.
// Escapes that the encoding had hidden are stripped as well.
func splitLines(p Piece) []Piece {
	var out []Piece
	start := 0
	for start <= len(p.Text) {
		end := len(p.Text)
		if i := strings.IndexByte(p.Text[start:], '\n'); i >= 0 {
			end = start + i
		}
		part := p
		part.Text, part.columns = stripAgain(p.Text[start:end], p.columns.from(start))
		out = append(out, part)
		start = end + 1
	}
	return out
}

// inherit gives the redrawn parts of a bar the origin of the line's prefix,
// which is printed only once, and drops the parts that are empty.
func inherit(pieces []Piece) []Piece {
	first := pieces[0]
	kept := pieces[:0]
	for i, p := range pieces {
		if i > 0 && !p.Prefixed && !p.Origin.Known() {
			p.Origin, p.Stamp = first.Origin, first.Stamp
		}
		if p.Text != "" {
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 {
		return append(kept, first)
	}
	return kept
}

type span struct{ start, end int }

// segments splits at carriage returns that are not part of CRLF.
func segments(raw []byte) []span {
	if bytes.IndexByte(raw, '\r') < 0 {
		return []span{{0, len(raw)}}
	}
	var out []span
	start := 0
	for {
		i := bytes.IndexByte(raw[start:], '\r')
		if i < 0 {
			return append(out, span{start, len(raw)})
		}
		out = append(out, span{start, start + i})
		start += i + 1
	}
}

// columnMap maps text offsets to raw columns: from each run's text offset on,
// raw = text + run.shift.
type columnMap struct {
	base int // text offset where this map's text starts in the mapped text
	runs []run
}

// run is a stretch that maps byte for byte. cut is set where control sequences were
// taken out in front of it.
type run struct {
	text, raw int
	cut       bool
}

func (m columnMap) from(n int) columnMap {
	m.base += n
	return m
}

// over returns the map of a text that m maps into a text that outer maps.
func (m columnMap) over(outer columnMap) columnMap {
	var out columnMap
	k := 0
	for i, r := range m.runs {
		out.runs = append(out.runs, run{r.text, outer.column(r.raw), r.cut})
		for k < len(outer.runs) && outer.runs[k].text-outer.base <= r.raw {
			k++
		}
		for ; k < len(outer.runs); k++ {
			text := r.text + outer.runs[k].text - outer.base - r.raw
			if i+1 < len(m.runs) && text >= m.runs[i+1].text {
				break
			}
			out.runs = append(out.runs, run{text, outer.runs[k].raw, outer.runs[k].cut})
		}
	}
	return out
}

// end is column for the end of a stretch.
func (m columnMap) end(i int) int {
	i += m.base
	k := sort.Search(len(m.runs), func(k int) bool { return m.runs[k].text > i }) - 1
	for k > 0 && m.runs[k].text == i && m.runs[k].cut {
		k--
	}
	if k < 0 {
		return i
	}
	return m.runs[k].raw + i - m.runs[k].text
}

func (m columnMap) column(i int) int {
	i += m.base
	k := sort.Search(len(m.runs), func(k int) bool { return m.runs[k].text > i }) - 1
	if k < 0 {
		return i
	}
	return m.runs[k].raw + i - m.runs[k].text
}
