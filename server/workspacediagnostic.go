package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/session"
)

// resultIDs are the results that a client has, by document.
type resultIDs map[uri.URI]knownResult

type knownResult struct {
	// spelled is the URI as the client spells it.
	spelled uri.URI
	id      string
}

// workspaceDiagnosticRaw decodes by itself what the client has already: the
// protocol module rewrites URIs, which must go back as the client spelled them.
func (s *Server) workspaceDiagnosticRaw(ctx context.Context, view *session.View, raw []byte) (any, error) {
	var p protocol.WorkspaceDiagnosticParams
	var known struct {
		PreviousResultIDs []struct {
			URI   string `json:"uri"`
			Value string `json:"value"`
		} `json:"previousResultIds"`
	}
	err := protocol.Unmarshal(raw, &p)
	if err == nil {
		err = protocol.Unmarshal(raw, &known)
	}
	if err != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "invalid params: %v", err)
	}
	ids := resultIDs{}
	for _, r := range known.PreviousResultIDs {
		key, err := canonical(r.URI)
		if err != nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "invalid params: %v", err)
		}
		ids[key] = knownResult{uri.URI(r.URI), r.Value}
	}
	return s.workspaceDiagnostic(ctx, view, p.PartialResultToken, ids)
}

// workspaceDiagnostic reports on all documents that are diagnosed: the open ones.
// It looks at no other file: nobody asked for them.
//
// A client that takes partial results gets each document's as soon as it is there.
// If there is nothing new for it the answer waits until there is: such a client
// asks again and again, which would keep two idle processes awake.
func (s *Server) workspaceDiagnostic(ctx context.Context, view *session.View, token protocol.ProgressToken, known resultIDs) (*protocol.WorkspaceDiagnosticReport, error) {
	out := pieces(s, token, func(piece []protocol.WorkspaceDocumentDiagnosticReport) any {
		return &protocol.WorkspaceDiagnosticReportPartialResult{Items: piece}
	})
	for {
		news, err := s.workspaceNews(ctx, view, known, out)
		if err != nil {
			return nil, err
		}
		if news || token == nil {
			break
		}
		changed := s.store.Changed(view)
		select {
		case <-changed:
		case <-s.closing:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if s.phase.Load() != phaseRunning {
			break
		}
		select { // let a burst of changes pass
		case <-time.After(s.config.Debounce):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		view = s.store.View()
	}
	items, err := out.rest(ctx)
	if err != nil {
		return nil, err
	}
	return &protocol.WorkspaceDiagnosticReport{Items: items}, nil
}

// workspaceNews adds the reports on what is in the view, and reports whether any
// of them differs from what the client has. Where the client takes pieces, only
// those that differ are told.
func (s *Server) workspaceNews(ctx context.Context, view *session.View, known resultIDs, out *partial[protocol.WorkspaceDocumentDiagnosticReport]) (bool, error) {
	news := false
	for _, d := range analysable(view) {
		found, id, err := s.pull(ctx, view, d)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil { // it must not keep the others from being reported on
			s.log.Error("no workspace diagnostics", zap.Stringer("uri", d.Key), zap.Int("bytes", d.Text.Len()), zap.Error(err))
			continue
		}
		if !d.Watched() {
			continue // it may be a log, and is none
		}
		if known[d.Key].id == id {
			if out.token == nil {
				if err := out.add(ctx, &protocol.WorkspaceUnchangedDocumentDiagnosticReport{
					UnchangedDocumentDiagnosticReport: unchangedReport(id), URI: d.URI, Version: &d.Version,
				}); err != nil {
					return false, err
				}
			}
			continue
		}
		if !s.store.Current(d) {
			continue // never tell of an older text; the change itself is news
		}
		news, known[d.Key] = true, knownResult{d.URI, id}
		if err := out.add(ctx, &protocol.WorkspaceFullDocumentDiagnosticReport{
			FullDocumentDiagnosticReport: fullReport(found, id), URI: d.URI, Version: &d.Version,
		}); err != nil {
			return false, err
		}
		if err := out.flush(ctx); err != nil {
			return false, err
		}
	}
	for key, was := range known {
		if d := view.Document(key); was.id == "" || d != nil && d.Watched() {
			continue
		}
		delete(known, key) // it was closed: take back what was said of it
		news = true
		if err := out.add(ctx, &protocol.WorkspaceFullDocumentDiagnosticReport{
			FullDocumentDiagnosticReport: fullReport(nil, ""), URI: was.spelled,
		}); err != nil {
			return false, err
		}
	}
	return news, out.flush(ctx)
}

// analysable are the documents of the view that are analysed, in the order of their
// URIs.
func analysable(view *session.View) []*session.Snapshot {
	var list []*session.Snapshot
	for _, d := range view.Documents() {
		if d.Analysable() {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *session.Snapshot) int { return cmp.Compare(a.Key, b.Key) })
	return list
}
