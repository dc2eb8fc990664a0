package server

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server/session"
)

// openReport shows the report of an open log: as a document, where the client can
// be told to open one and asks for its text, else the answer and the fix in a
// message. Its result is null.
func (s *Server) openReport(ctx context.Context, view *session.View, arguments []protocol.LSPAny) (protocol.LSPAny, error) {
	d, err := openLog(CommandOpenReport, view, arguments)
	if err != nil {
		return nil, err
	}
	if view.Client.ShowsDocuments && view.Client.TextDocumentContent {
		if _, err := s.client.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: reportURI(string(d.URI)), TakeFocus: ptr(true)}); err != nil {
			return nil, fmt.Errorf("the editor did not open the report: %w", err)
		}
		return protocol.LSPAny("null"), nil
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	v := &analysis.Report.Verdict
	text := fmt.Sprintf("%s. %s", v.Title, v.Summary)
	if len(v.Fixes) > 0 {
		text += fmt.Sprintf(" Fix: %s.", v.Fixes[0].Title)
	}
	s.outbox.show(protocol.MessageTypeInfo, text)
	return protocol.LSPAny("null"), nil
}
