package server

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer/outline"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxHighlights bounds the lines that are highlighted: of more, those nearest to
// the cursor are, and the one that started it.
const maxHighlights = 2000

// documentHighlight marks the lines of the process that printed the one under the
// cursor; where it is the one that started it, its line is marked as written. Where
// all lines are of one process there is nothing to tell apart.
func (s *Server) documentHighlight(ctx context.Context, view *session.View, p *protocol.DocumentHighlightParams) ([]protocol.DocumentHighlight, error) {
	d, analysis, err := s.watched(ctx, view, p.TextDocument.URI)
	if d == nil || err != nil || uint64(p.Position.Line) >= uint64(d.Text.Lines()) {
		return []protocol.DocumentHighlight{}, err
	}
	line := int(p.Position.Line)
	o, err := s.outline(ctx, d, analysis)
	if err != nil {
		return nil, err
	}
	start, _ := d.Text.Bounds(line)
	printer := o.PrinterAt(int64(start))
	if printer < 0 || len(o.Printers) < 2 {
		return []protocol.DocumentHighlight{}, nil
	}
	lines := nearest(d.Text, o, printer, line)
	written := map[int]bool{}
	started, _ := startedIt(analysis.Report, d.Text)
	for _, m := range started {
		if o.PrinterAt(int64(m.start)) == printer {
			at := d.Text.Line(m.start)
			written[at] = true
			if _, has := slices.BinarySearch(lines, at); !has {
				lines = append(lines, at)
			}
		}
	}
	slices.Sort(lines)
	found := make([]protocol.DocumentHighlight, 0, len(lines))
	for _, line := range lines {
		start, end := d.Text.Bounds(line)
		h := protocol.DocumentHighlight{Range: d.Text.Range(start, end), Kind: protocol.DocumentHighlightKindText}
		if written[line] {
			h.Kind = protocol.DocumentHighlightKindWrite
		}
		found = append(found, h)
	}
	return deliver(ctx, s, p.PartialResultToken, found)
}

// nearest are the lines of a printer that are not blank, at most maxHighlights of
// them around the line told, ascending.
func nearest(text *position.Text, o *outline.Outline, printer, line int) []int {
	start, _ := text.Bounds(line)
	at := sort.Search(len(o.Stretches), func(i int) bool { return o.Stretches[i].End > int64(start) })
	// Each gives the next line on its side, -1 when there is none.
	side := func(from, step int) func() int {
		i, next, last := at, from, lastLine(text, o.Stretches[at])
		if step < 0 {
			last = text.Line(int(o.Stretches[at].Start))
		}
		return func() int {
			for {
				if step > 0 && next > last || step < 0 && next < last {
					for i += step; i >= 0 && i < len(o.Stretches) && o.Stretches[i].Printer != printer; i += step {
					}
					if i < 0 || i >= len(o.Stretches) {
						return -1
					}
					next, last = text.Line(int(o.Stretches[i].Start)), lastLine(text, o.Stretches[i])
					if step < 0 {
						next, last = last, next
					}
				}
				found := next
				next += step
				if s, e := text.Bounds(found); len(bytes.TrimSpace(text.Bytes()[s:e])) > 0 {
					return found
				}
			}
		}
	}
	var lines []int
	down, up := side(line, +1), side(line-1, -1)
	for below, above := down(), up(); len(lines) < maxHighlights && (below >= 0 || above >= 0); {
		if below >= 0 && (above < 0 || below-line <= line-above) {
			lines, below = append(lines, below), down()
		} else {
			lines, above = append(lines, above), up()
		}
	}
	slices.SortFunc(lines, cmp.Compare)
	return lines
}

// lastLine is the last of the editor's lines in a stretch.
func lastLine(text *position.Text, s outline.Stretch) int { return text.Line(int(s.End - 1)) }
