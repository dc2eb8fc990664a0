package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server/session"
)

// serverCancelled is LSP's code for a request that the server gave up by itself.
const serverCancelled = jsonrpc2.Code(protocol.LSPErrorCodesServerCancelled)

// diagnosticProvider tells a client that pulls that it may. Others get their
// diagnostics without asking.
func diagnosticProvider(c session.Client) protocol.DiagnosticProvider {
	if !c.PullsDiagnostics {
		return nil
	}
	return &protocol.DiagnosticOptions{Identifier: ptr(Source), WorkspaceDiagnostics: true}
}

// documentDiagnostic answers a client that pulls. The verdict on a log says
// nothing of the lines of other documents, so there are no related ones.
func (s *Server) documentDiagnostic(ctx context.Context, view *session.View, p *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error) {
	none := &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: fullReport(nil, "")}
	d := view.Document(p.TextDocument.URI)
	if d == nil || !d.Analysable() {
		return none, nil
	}
	found, id, err := s.pull(ctx, view, d)
	switch {
	case err != nil:
		return nil, err
	case !d.Watched():
		return none, nil // it may be a log, and is none
	case !s.store.Current(d):
		return nil, outdated()
	case p.PreviousResultID != nil && *p.PreviousResultID == id:
		return &protocol.RelatedUnchangedDocumentDiagnosticReport{UnchangedDocumentDiagnosticReport: unchangedReport(id)}, nil
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: fullReport(found, id)}, nil
}

// pull computes the diagnostics of a version, and the id of this result.
func (s *Server) pull(ctx context.Context, view *session.View, d *session.Snapshot) ([]protocol.Diagnostic, string, error) {
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, "", err
	}
	found := diagnostics(view.Client, d, analysis.Report)
	id, err := resultID(found)
	return found, id, err
}

// refreshDiagnostics has a client that pulls ask again for the diagnostics of all
// documents. That is dear, so it is only for changes that it cannot know of: what
// the user asked for, settings, files on disk; never for a change of a document.
func (s *Server) refreshDiagnostics() {
	if c := s.store.View().Client; c.PullsDiagnostics && c.RefreshesDiagnostics {
		s.refreshes.want(s.base, s.log, protocol.MethodWorkspaceDiagnosticRefresh, s.client.DiagnosticRefresh)
	}
}

// resultID names a result by what is in it: the client is told that nothing has
// changed whenever that is so, even if the document has changed, and nothing needs
// to be kept of what was answered.
func resultID(found []protocol.Diagnostic) (string, error) {
	encoded, err := protocol.Marshal(found)
	if err != nil {
		return "", fmt.Errorf("encoding diagnostics: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:12]), nil
}

func fullReport(found []protocol.Diagnostic, id string) protocol.FullDocumentDiagnosticReport {
	if found == nil {
		found = []protocol.Diagnostic{}
	}
	r := protocol.FullDocumentDiagnosticReport{Kind: string(protocol.DocumentDiagnosticReportKindFull), Items: found}
	if id != "" {
		r.ResultID = &id
	}
	return r
}

func unchangedReport(id string) protocol.UnchangedDocumentDiagnosticReport {
	return protocol.UnchangedDocumentDiagnosticReport{Kind: string(protocol.DocumentDiagnosticReportKindUnchanged), ResultID: id}
}

// outdated is the answer for a document that has changed since it was asked for:
// the client is to ask again rather than to show what was true of another text.
func outdated() error {
	err := jsonrpc2.NewError(serverCancelled, "the document has changed in the meantime")
	err.Data = jsonrpc2.RawMessage(`{"retriggerRequest":true}`)
	return err
}
