package message

import (
	"context"
	"slices"

	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// maxPasted is how much text with cut lines is put together again; nobody copies
// more from a terminal.
const maxPasted = 4 << 20

// pasted reports whether the file is such a text.
func (s Source) pasted() bool { return s.Layout.Width > 0 && s.Size <= maxPasted }

// pasted reads a text whose long lines a window cut. An anchor may be cut as well, so
// that all lines are read. A line that was put together stands where it began.
func (r *reader) pasted(ctx context.Context) error {
	var whole *scan.Raw // may go on in the next line
	var before []byte   // its last part
	err := scan.Walk(ctx, r.src.Data, r.src.Size, []scan.Hit{{Line: 1}}, func(raw scan.Raw) bool {
		part := slices.Clone(raw.Bytes)
		switch {
		case whole != nil && len(whole.Bytes) <= line.MaxText && r.src.Layout.GoesOn(before, part):
			whole.Bytes = append(whole.Bytes, part...)
		default:
			if whole != nil {
				r.line(*whole)
			}
			raw.Bytes = slices.Clone(part)
			whole = &raw
		}
		before = part
		return true
	})
	if err == nil && whole != nil {
		r.line(*whole)
	}
	return err
}
