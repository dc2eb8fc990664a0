package server

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxDecoded bounds the bytes in which every line is decoded for one request. Of a
// longer stretch only the lines are that the report lists: editors that show a part
// of a document ask for that part, and for a whole document the report's lines are
// what matters.
const maxDecoded = 2 << 20

// records yields what is known of the lines, as LF ends them, that stand in a stretch
// of the text, and of each of several records on one line. Their places have offsets
// and no line numbers, which would have to be counted and which no editor uses. It
// ends early when ctx does.
func records(ctx context.Context, a *analyzer.Analysis, text *position.Text, start, end int) iter.Seq[incident.Line] {
	return func(yield func(incident.Line) bool) {
		b := text.Bytes()
		for _, part := range parts(a, text, start, end) {
			at := bytes.LastIndexByte(b[:part.start], '\n') + 1
			for more := true; more; {
				if ctx.Err() != nil {
					return
				}
				stop := len(b)
				if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
					stop = at + i
				}
				for _, r := range a.Line(0, b[at:stop], 0, int64(at)) {
					if !yield(r) {
						return
					}
				}
				at = stop + 1
				more = at < part.end
			}
		}
	}
}

type part struct{ start, end int }

// parts are the stretches whose lines are decoded: the whole one, or the lines in it
// that the report lists, each once.
func parts(a *analyzer.Analysis, text *position.Text, start, end int) []part {
	if end-start <= maxDecoded {
		return []part{{start, end}}
	}
	var at []int
	add := func(offset int64) {
		if offset >= int64(start) && offset < int64(end) {
			at = append(at, bytes.LastIndexByte(text.Bytes()[:offset], '\n')+1)
		}
	}
	for _, m := range marks(a.Report, text) {
		add(m.offset)
	}
	for i := range a.Report.Events {
		add(a.Report.Events[i].Location.Offset)
	}
	slices.Sort(at)
	var out []part
	for _, offset := range slices.Compact(at) {
		out = append(out, part{offset, offset})
	}
	return out
}

// recordAt is what is known of the record at an offset that stands on a line of the
// editor's; nil if nothing is. What stands in front of the first record of the line
// belongs to it.
func recordAt(ctx context.Context, a *analyzer.Analysis, d *session.Snapshot, line, offset int) *incident.Line {
	start, end := d.Text.Bounds(line)
	var found *incident.Line
	for r := range records(ctx, a, d.Text, start, start) {
		if r.Text.Offset < int64(start) || r.Text.Offset > int64(end) {
			continue // the editor shows it on another line
		}
		if found == nil || r.Text.Offset <= int64(offset) {
			found = &r
		}
	}
	return found
}
