// Package position is the one place where byte offsets and an editor's
// positions are turned into each other. Nothing else adds or subtracts columns.
//
// Two notions of a line meet here. A report counts lines by LF alone; an editor
// also ends a line at CRLF and, most of them, at a lone CR, which progress bars
// print by the thousand. So the server never uses a report's line numbers to
// address an editor: it goes by byte offsets, which are the same for both.
package position

import (
	"bytes"
	"slices"
	"sort"
	"sync/atomic"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// Convention is how one client counts.
type Convention struct {
	// Encoding is the unit of columns; empty means UTF-16.
	Encoding protocol.PositionEncodingKind
	// LoneCRIsText is set for a client that, against the protocol, does not end a
	// line at a CR that no LF follows.
	LoneCRIsText bool
}

// Text is an immutable text with the starts of its lines.
type Text struct {
	bytes      []byte
	starts     []int // of each line; the first is 0
	convention Convention
	// tail belongs to the array behind bytes and says how much of it is in use, so
	// that of all texts that share the array only the longest grows in place.
	tail *atomic.Int64
}

// New indexes b, which must not be changed afterwards.
func New(b []byte, c Convention) *Text {
	t := &Text{bytes: b, starts: []int{0}, convention: c, tail: new(atomic.Int64)}
	t.tail.Store(int64(len(b)))
	t.starts = t.appendStarts(t.starts, 1, len(b))
	return t
}

// Bytes is the text. It must not be changed.
func (t *Text) Bytes() []byte { return t.bytes }

// Len is the length in bytes.
func (t *Text) Len() int { return len(t.bytes) }

// Same is how many bytes at the start of t are those of other.
func (t *Text) Same(other *Text) int {
	a, b := t.bytes, other.bytes
	n := min(len(a), len(b))
	if n == 0 || &a[0] == &b[0] {
		return n // one was grown from the other, or is the other
	}
	const block = 4 << 10
	i := 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// Lines is the number of lines as the client counts them; an empty text has one.
func (t *Text) Lines() int { return len(t.starts) }

// Replace returns the text in which insert stands for the bytes from start to
// end. Offsets outside the text are moved to its ends.
func (t *Text) Replace(start, end int, insert []byte) *Text {
	start = min(max(start, 0), len(t.bytes))
	end = min(max(end, start), len(t.bytes))
	if start == len(t.bytes) {
		return t.grow(insert)
	}
	next := &Text{convention: t.convention, tail: new(atomic.Int64)}
	next.bytes = make([]byte, 0, start+len(insert)+len(t.bytes)-end)
	next.bytes = append(next.bytes, t.bytes[:start]...)
	next.bytes = append(next.bytes, insert...)
	next.bytes = append(next.bytes, t.bytes[end:]...)
	next.tail.Store(int64(len(next.bytes)))
	// Whether a line starts at p depends on the bytes at p-1 and p: only the
	// starts from the first changed byte to just past the last one are in doubt.
	keep := sort.SearchInts(t.starts, start)
	rest := sort.SearchInts(t.starts, end+1)
	if keep == 0 {
		keep = 1 // the first line always starts at 0
	}
	next.starts = append(make([]int, 0, keep+len(t.starts)-rest+8), t.starts[:keep]...)
	next.starts = next.appendStarts(next.starts, max(start, 1), start+len(insert))
	shift := start + len(insert) - end
	for _, s := range t.starts[rest:] {
		next.starts = append(next.starts, s+shift)
	}
	return next
}

// grow appends to the text. Where no other text has done so before, the array
// is used again: a log that grows is not copied at each line.
func (t *Text) grow(insert []byte) *Text {
	if len(insert) == 0 {
		return t
	}
	old, size := len(t.bytes), len(t.bytes)+len(insert)
	next := &Text{convention: t.convention}
	starts := t.starts
	if size <= cap(t.bytes) && t.tail.CompareAndSwap(int64(old), int64(size)) {
		next.bytes, next.tail = append(t.bytes, insert...), t.tail
	} else {
		next.bytes = make([]byte, size, size+size/4)
		copy(next.bytes, t.bytes)
		copy(next.bytes[old:], insert)
		next.tail = new(atomic.Int64)
		next.tail.Store(int64(size))
		starts = slices.Clip(starts)
	}
	if n := len(starts); n > 1 && starts[n-1] == old {
		starts = slices.Clone(starts[:n-1]) // a CR at the end: an LF may follow it now
	}
	next.starts = next.appendStarts(starts, max(old, 1), size)
	return next
}

// appendStarts appends the line starts between from and to, both included.
func (t *Text) appendStarts(starts []int, from, to int) []int {
	b := t.bytes[:to]
	lf, cr := from-2, from-2 // the next ones; len(b) when there are none left
	for i := from - 1; ; i++ {
		if lf < i {
			lf = indexFrom(b, i, '\n')
		}
		if cr < i {
			cr = len(b)
			if !t.convention.LoneCRIsText {
				cr = indexFrom(b, i, '\r')
			}
		}
		i = min(lf, cr)
		if i == len(b) {
			return starts
		}
		if i == lf || i+1 == len(t.bytes) || t.bytes[i+1] != '\n' {
			starts = append(starts, i+1)
		}
	}
}

// indexFrom is the index of the first c in b at or after from, or len(b).
func indexFrom(b []byte, from int, c byte) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

// Line is the number, from 0, of the line that holds the byte at offset.
func (t *Text) Line(offset int) int {
	return sort.SearchInts(t.starts, offset+1) - 1
}

// Bounds are the offsets of a line's first byte and of its end, before the bytes
// that end the line.
func (t *Text) Bounds(line int) (start, end int) {
	line = min(max(line, 0), len(t.starts)-1)
	start, end = t.starts[line], len(t.bytes)
	if line+1 == len(t.starts) {
		return start, end
	}
	end = t.starts[line+1] - 1
	if t.bytes[end] == '\n' && end > start && t.bytes[end-1] == '\r' {
		end--
	}
	return start, end
}

// Position is the client's position of a byte. An offset inside a character
// means its start, one among the bytes that end a line means the line's end.
func (t *Text) Position(offset int) protocol.Position {
	offset = min(max(offset, 0), len(t.bytes))
	line := t.Line(offset)
	start, end := t.Bounds(line)
	text := t.bytes[start:min(offset, end)]
	if offset < end {
		text = text[:len(text)-t.inside(start, end, offset)]
	}
	return protocol.Position{Line: uint32(line), Character: uint32(t.units(text))}
}

// inside is the number of bytes by which offset lies past the start of its character.
func (t *Text) inside(start, end, offset int) int {
	for back := 1; back < utf8.UTFMax && offset-back >= start; back++ {
		if _, size := utf8.DecodeRune(t.bytes[offset-back : end]); size > back {
			return back
		} else if size > 1 {
			break
		}
	}
	return 0
}

// units counts b in the client's unit. A byte that is no part of valid UTF-8
// counts as one replacement character.
func (t *Text) units(b []byte) int {
	if t.convention.Encoding == protocol.PositionEncodingKindUTF8 {
		return len(b)
	}
	n := 0
	for i := 0; i < len(b); {
		size, units := t.step(b[i:])
		i += size
		n += units
	}
	return n
}

// step is the size of the first character of b, in bytes and in the client's unit.
func (t *Text) step(b []byte) (size, units int) {
	if b[0] < utf8.RuneSelf {
		return 1, 1
	}
	r, size := utf8.DecodeRune(b)
	switch t.convention.Encoding {
	case protocol.PositionEncodingKindUTF8:
		return size, size
	case protocol.PositionEncodingKindUTF32:
		return size, 1
	}
	if r > 0xFFFF {
		return size, 2
	}
	return size, 1
}

// Offset is the byte at a client's position. A position past the end of a line
// means the line's end, a line past the last one means the end of the text, and
// a column inside a character means its start.
func (t *Text) Offset(p protocol.Position) int {
	if uint64(p.Line) >= uint64(len(t.starts)) {
		return len(t.bytes)
	}
	start, end := t.Bounds(int(p.Line))
	left := uint64(p.Character)
	for start < end {
		size, units := t.step(t.bytes[start:end])
		if left < uint64(units) {
			return start
		}
		left -= uint64(units)
		start += size
	}
	return end
}

// Range is the client's range of the bytes from start to end.
func (t *Text) Range(start, end int) protocol.Range {
	return protocol.Range{Start: t.Position(start), End: t.Position(max(start, end))}
}
