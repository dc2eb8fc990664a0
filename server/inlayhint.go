package server

import (
	"context"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxHints bounds the hints of one answer; the first ones of the range are given.
const maxHints = 2000

// inlayHintProvider is what is announced to a client that shows hints.
func inlayHintProvider(c session.Client) protocol.InlayHintProvider {
	if !c.InlayHints {
		return nil
	}
	return &protocol.InlayHintOptions{}
}

// inlayHint tells on lines with a known message what they do not say themselves: the
// rank, where the log tells it elsewhere and has several, and how long before or
// after the initiating event they were printed.
func (s *Server) inlayHint(ctx context.Context, view *session.View, p *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
	hints := []protocol.InlayHint{}
	d := view.Document(p.TextDocument.URI)
	if d == nil || !d.Watched() {
		return hints, nil
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	start, end := d.Text.Offset(p.Range.Start), d.Text.Offset(p.Range.End)
	for record := range records(ctx, analysis, d.Text, start, end) {
		at := int(record.Text.Offset)
		if len(record.Messages) == 0 || at < start || at > end {
			continue
		}
		if hint, ok := hintOn(d, analysis, &record); ok {
			hints = append(hints, hint)
		}
		if len(hints) == maxHints {
			break
		}
	}
	return hints, ctx.Err()
}

// hintOn is the hint in front of a record's text. The tooltip says the same in words.
func hintOn(d *session.Snapshot, a *analyzer.Analysis, record *incident.Line) (protocol.InlayHint, bool) {
	var label []string
	if rank := record.Origin.Rank; rank != nil && !record.RankSaid && len(a.Report.Coverage.RanksSeen) > 1 {
		label = append(label, incident.Origin{Rank: rank}.Name())
	}
	begin := statedAt(a.Report.Verdict.Initiator)
	if e := record.Since; e != nil && begin != nil && begin.Offset != record.Text.Offset {
		label = append(label, render.Since(e))
	}
	if len(label) == 0 {
		return protocol.InlayHint{}, false
	}
	at := int(record.Text.Offset)
	hint := protocol.InlayHint{
		Position: d.Text.Position(at), Label: protocol.String(strings.Join(label, ", ")), PaddingRight: ptr(true),
		Tooltip: protocol.String(render.Printed(record, render.LineOptions{Plain: true, Link: places(d), Initiating: begin})),
	}
	if before := d.Text.Bytes()[:at]; len(before) > 0 && !strings.ContainsRune(" \t\r\n", rune(before[len(before)-1])) {
		hint.PaddingLeft = ptr(true)
	}
	return hint, true
}

// refreshDecoration has the client ask again for what is shown on the lines: hints
// and tokens. It is for changes that the client cannot know of, such as settings and
// a document that is diagnosed from now on.
func (s *Server) refreshDecoration() {
	c := s.store.View().Client
	if c.InlayHints && c.RefreshesHints {
		s.refreshes.want(s.base, s.log, protocol.MethodWorkspaceInlayHintRefresh, s.client.InlayHintRefresh)
	}
	if c.SemanticTokens && c.RefreshesTokens {
		s.refreshes.want(s.base, s.log, protocol.MethodWorkspaceSemanticTokensRefresh, s.client.SemanticTokensRefresh)
	}
}
