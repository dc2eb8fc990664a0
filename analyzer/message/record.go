package message

import (
	"bytes"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
)

// lookBack bounds the line above that is read again.
const lookBack = 4 << 10

// continues gives a traceback without a prefix to the log record above it, if it
// goes on with that: a logger prints the exception behind an error's message, some
// of them indented.
//
//	[NeMo E 2026-10-02 14:20:33 step_guard:75 rank:21] step 934: torch.OutOfMemoryError caught
//	    Traceback (most recent call last):
func (r *reader) continues(p *line.Placed, tb *traceback.Traceback) {
	above, ok := r.above(p.Start)
	if !ok {
		return
	}
	failed := above.Level == 'E' || above.Level == 'F'
	if r.src.Origin.Known() { // the whole file is one process's, and only the time is to be had
		if failed && p.Stamp.Text == "" {
			p.Stamp, tb.First.Stamp = above.Stamp, above.Stamp
		}
		return
	}
	if above.Origin.Rank == nil && above.Origin.LocalRank == nil && above.Origin.Process == "" {
		return // a pid alone may be a launcher's
	}
	indented := len(p.Text) > 0 && p.Text[0] == ' '
	if !indented && (!failed || native(above.Source)) {
		return
	}
	p.Origin, p.Stamp = above.Origin, above.Stamp
	tb.Origin, tb.First.Stamp = above.Origin, above.Stamp
}

// native reports whether a record was printed by C++ code, which prints no
// Python traceback behind it: "ProcessGroupNCCL.cpp:523".
func native(source string) bool {
	file, _, _ := strings.Cut(source, ":")
	return strings.HasSuffix(file, ".cpp") || strings.HasSuffix(file, ".cc")
}

// above decodes the line that ends where another one starts.
func (r *reader) above(start int64) (line.Piece, bool) {
	from := max(0, start-lookBack)
	buf := make([]byte, start-from)
	if n, err := r.src.Data.ReadAt(buf, from); err != nil && int64(n) < start-from {
		return line.Piece{}, false
	}
	buf = bytes.TrimSuffix(buf, []byte("\n"))
	if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
		buf = buf[i+1:]
	} else if from > 0 {
		return line.Piece{}, false // longer than a record's first line
	}
	pieces := line.Decode(buf, r.src.Layout)
	if len(pieces) == 0 {
		return line.Piece{}, false
	}
	return pieces[len(pieces)-1], true
}
