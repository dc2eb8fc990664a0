package line

import (
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Placed is a piece with its place in a file: the one type that turns text
// offsets into positions.
type Placed struct {
	Piece
	// File is the index of the file in the incident; Path is how the report names it.
	File int
	Path string
	// Number counts LF from 1; Start is the offset of the raw line, Length its
	// bytes without the LF.
	Number int64
	Start  int64
	Length int
}

// Location covers the whole text of the piece.
func (p Placed) Location() incident.Location { return p.Range(0, len(p.Text)) }

// Range covers the text's bytes from to to.
func (p Placed) Range(from, to int) incident.Location {
	first := min(p.Column(from), p.Length)
	last := first
	if to > from {
		last = max(first, min(p.EndColumn(to), p.Length))
	}
	return incident.Location{
		File: p.Path, Line: p.Number, EndLine: p.Number,
		Column: first + 1, EndColumn: last + 1,
		Offset: p.Start + int64(first), EndOffset: p.Start + int64(last),
		Text: Quote(p.Text),
	}
}

// Span covers everything from the start of first to the end of last, and quotes stated.
func Span(first, last, stated Placed) incident.Location {
	a, b := first.Location(), last.Location()
	a.EndLine, a.EndColumn, a.EndOffset = b.EndLine, b.EndColumn, b.EndOffset
	a.Text = Quote(stated.Text)
	return a
}

// Quote cuts a text at incident.MaxLocationText bytes, at the start of a character.
func Quote(text string) string {
	text = strings.TrimRight(text, " ")
	if len(text) <= incident.MaxLocationText {
		return text
	}
	cut := incident.MaxLocationText
	for cut > 0 && text[cut]&0xc0 == 0x80 {
		cut--
	}
	return text[:cut]
}

// Before reports whether p stands before q in the incident's files.
func (p Placed) Before(q Placed) bool {
	if p.File != q.File {
		return p.File < q.File
	}
	if p.Start != q.Start {
		return p.Start < q.Start
	}
	return p.Column(0) < q.Column(0)
}
