package line

import (
	"bytes"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Columns is a stretch of a raw line, in bytes from 0. It is empty where the line
// has no such thing.
type Columns struct{ From, To int }

// Prefix returns where the prefix of a piece of a raw line names who printed it, and
// where the time. It peels the prefix once more: what people look at is little, and
// what the scan decodes is much.
func Prefix(raw []byte, layout Layout, p Piece) (who, when Columns) {
	raw = raw[:min(len(raw), MaxText)]
	start := bytes.LastIndexByte(raw[:min(p.Column(0), len(raw))], '\r') + 1
	end := len(raw)
	if i := bytes.IndexByte(raw[start:], '\r'); i >= 0 {
		end = start + i
	}
	f := &finder{}
	f.piece.Text, f.piece.columns = strip(raw[start:end], start)
	f.peelAll(layout)
	if f.when == (Columns{}) && p.Stamp.Text != "" { // a member of a JSON record
		if i := bytes.Index(raw[start:end], []byte(p.Stamp.Text)); i >= 0 {
			f.when = Columns{start + i, start + i + len(p.Stamp.Text)}
		}
	}
	return f.who, f.when
}

// finder peels a piece and notes what each prefix said.
type finder struct {
	piece     Piece
	who, when Columns
	ranked    bool // who names a rank
}

func (f *finder) peelAll(layout Layout) {
	f.step(func(p *Piece) { labels(p, layout) })
	for range maxLayers {
		before := len(f.piece.Text)
		f.step(func(p *Piece) {
			if n := peelOne(p, p.Text); n > 0 {
				p.cut(n)
			}
		})
		if len(f.piece.Text) == before {
			break
		}
	}
	if f.ranked {
		return
	}
	before := f.piece.Origin.Rank
	loggerRank(&f.piece)
	if end := strings.IndexByte(f.piece.Text, ']'); f.piece.Origin.Rank != before && end > 0 {
		f.who = columns(f.piece, 0, end+1)
	}
}

// step takes prefixes off and notes where they say who and when. The first time
// counts, and the first label that names a rank, else the first one.
func (f *finder) step(peel func(*Piece)) {
	old := f.piece
	peel(&f.piece)
	n := len(old.Text) - len(f.piece.Text)
	if n <= 0 {
		return
	}
	to := len(strings.TrimRight(old.Text[:n], " :|"))
	from := n - len(strings.TrimLeft(old.Text[:n], " "))
	if stamp := f.piece.Stamp.Text; stamp != old.Stamp.Text {
		if i := strings.Index(old.Text[:n], stamp); i >= 0 {
			f.when = columns(old, i, i+len(stamp))
			// A label may stand behind the time, between the same brackets.
			from = i + len(stamp)
			from += len(old.Text[from:n]) - len(strings.TrimLeft(old.Text[from:n], " :]|"))
			to = from + len(strings.TrimRight(old.Text[from:max(to, from)], " ]:|"))
		}
	}
	a, b := old.Origin, f.piece.Origin
	ranked := a.Rank != b.Rank || a.LocalRank != b.LocalRank
	if to > from && (ranked && !f.ranked || f.who == (Columns{}) && named(a) != named(b)) {
		f.who, f.ranked = columns(old, from, to), ranked
	}
}

// named is what a label may say besides ranks. A pid alone is no label: it stands
// among the parts of a logger's prefix.
func named(o incident.Origin) string { return o.Process + "\x00" + o.Host }

// columns maps a stretch of a piece's text to the raw line.
func columns(p Piece, from, to int) Columns {
	if to <= from {
		return Columns{}
	}
	return Columns{p.Column(from), p.EndColumn(to)}
}
