package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer/outline"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxFoldingRanges bounds the answer to a client that says no bound. Of more, the
// tracebacks are kept before repetitions and these before the lines of one
// process, and long parts before short ones.
const maxFoldingRanges = 5000

// foldingRange folds tracebacks, up to the line of the exception, what only
// repeats, and the lines of one process. Whole lines are folded, so a client that
// can fold parts of lines gets the same.
func (s *Server) foldingRange(ctx context.Context, view *session.View, p *protocol.FoldingRangeParams) ([]protocol.FoldingRange, error) {
	d, analysis, err := s.watched(ctx, view, p.TextDocument.URI)
	if d == nil || err != nil || ordinary(analysis.Report) {
		return []protocol.FoldingRange{}, err
	}
	o, err := s.outline(ctx, d, analysis)
	if err != nil {
		return nil, err
	}
	limit := maxFoldingRanges
	if n := view.Client.FoldingRanges; n > 0 {
		limit = min(limit, n)
	}
	var found []protocol.FoldingRange
	for _, f := range kept(o.Folds, limit) {
		if r, ok := foldAt(view.Client, d, o, f); ok {
			found = append(found, r)
		}
	}
	return deliver(ctx, s, p.PartialResultToken, found)
}

// kept are the folds that matter most, in the order of the document.
func kept(folds []outline.Fold, limit int) []outline.Fold {
	if len(folds) <= limit {
		return folds
	}
	most := slices.Clone(folds)
	rank := func(f outline.Fold) int {
		if f.Kind == outline.Bar {
			return int(outline.Repeat)
		}
		return int(f.Kind)
	}
	slices.SortStableFunc(most, func(a, b outline.Fold) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Lines, a.Lines))
	})
	most = most[:limit]
	slices.SortFunc(most, func(a, b outline.Fold) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	return most
}

// foldAt is a fold on the editor's lines. ok is false where they are too few.
func foldAt(c session.Client, d *session.Snapshot, o *outline.Outline, f outline.Fold) (protocol.FoldingRange, bool) {
	first, last := d.Text.Line(int(f.Start)), d.Text.Line(int(f.End-1))
	if f.Kind == outline.Bar {
		last-- // where it stopped stays in sight
	}
	if last <= first {
		return protocol.FoldingRange{}, false
	}
	r := protocol.FoldingRange{StartLine: uint32(first), EndLine: uint32(last)}
	hidden := last - first
	says := ""
	switch f.Kind {
	case outline.Traceback:
		says = fmt.Sprintf("... %d frames", f.Frames)
	case outline.Bar:
		r.Kind, says = protocol.FoldingRangeKindComment, fmt.Sprintf("... drawn %d times", f.Lines)
	case outline.Repeat:
		r.Kind, says = protocol.FoldingRangeKindComment, fmt.Sprintf("... %d more like this", hidden)
	case outline.Block:
		r.Kind, says = protocol.FoldingRangeKindRegion, fmt.Sprintf("... %d more lines of %s", hidden, o.Printers[f.Printer].Name)
	}
	if c.FoldingKinds != nil && !slices.Contains(c.FoldingKinds, r.Kind) {
		r.Kind = ""
	}
	if c.FoldingText {
		r.CollapsedText = &says
	}
	return r, true
}
