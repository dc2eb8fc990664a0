package server

import (
	"context"

	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/outline"
	"github.com/graphtrap/graphtrap/server/session"
)

// watched is an open document that is shown to be a log, and its analysis. It is nil
// for all others; of one that is perhaps a log, this is known when it was analysed.
func (s *Server) watched(ctx context.Context, view *session.View, key uri.URI) (*session.Snapshot, *analyzer.Analysis, error) {
	d := view.Document(key)
	if d == nil || !d.Analysable() {
		return nil, nil, nil
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil || !d.Watched() {
		return nil, nil, err
	}
	return d, analysis, nil
}

// outline is what the lines of a version of a document are. It is read once, for
// all who ask, when the first one does.
func (s *Server) outline(ctx context.Context, d *session.Snapshot, a *analyzer.Analysis) (*outline.Outline, error) {
	return d.Outline.Get(ctx, s.base, func(ctx context.Context) (*outline.Outline, error) {
		select {
		case s.analyses <- struct{}{}:
			defer func() { <-s.analyses }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		earlier, same := d.Outlined()
		o, err := a.Outline(ctx, 0, d.Text.Bytes(), earlier, same)
		d.OutlinedAs(o)
		return o, err
	})
}

// ordinary reports whether nothing in a document is known to us: it is not a log of
// the kind that this server is for, and is left to the editor.
func ordinary(r *incident.Report) bool {
	return r.Verdict.Status == incident.NoFailureFound && len(r.Events) == 0
}
