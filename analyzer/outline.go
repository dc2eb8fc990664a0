package analyzer

import (
	"context"
	"slices"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/outline"
)

// Outline reads the parts of the file with an index, given its whole text. The
// lines that state who started it are never part of a repetition. earlier, which
// may be nil, is the outline of a text whose first same bytes were the same; they
// are not read again, and the result is the same as without. It fails only when ctx
// is done; see [outline.Follow] for what it returns then.
func (a *Analysis) Outline(ctx context.Context, file int, text []byte, earlier *outline.Outline, same int64) (*outline.Outline, error) {
	src := outline.Source{Text: text}
	if l := a.lines; l != nil && file >= 0 && file < len(l.layouts) {
		src.Layout, src.Resolve = l.layouts[file], l.run.Resolve
	}
	if files := a.Report.Input.Files; file >= 0 && file < len(files) {
		v := &a.Report.Verdict
		keep := func(i *incident.Initiator) {
			if at := i.StatedAt; at != nil && at.File == files[file].Path {
				src.Keep = append(src.Keep, at.Offset)
			}
		}
		if v.Initiator != nil {
			keep(v.Initiator)
		}
		for i := range v.CoInitiators {
			keep(&v.CoInitiators[i])
		}
		slices.Sort(src.Keep)
	}
	return outline.Follow(ctx, src, earlier, same)
}
