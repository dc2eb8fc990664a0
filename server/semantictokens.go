package server

import (
	"bytes"
	"context"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxTokens bounds the tokens of one answer; the first ones of the range are given.
const maxTokens = 50_000

// tokenKind is what a stretch of a log is.
type tokenKind int

const (
	tokenInitiator tokenKind = iota
	tokenCollateral
	tokenRank
	tokenTime
	tokenNoise
)

// tokenNames are the names of the kinds, for editors that know them, and the names
// of the protocol's types that stand for them elsewhere.
var tokenNames = []struct{ own, standard string }{
	tokenInitiator:  {"logInitiator", "keyword"},
	tokenCollateral: {"logCollateral", "string"},
	tokenRank:       {"logRank", "type"},
	tokenTime:       {"logTime", "number"},
	tokenNoise:      {"logNoise", "comment"},
}

// legend names the token types for a client, in the order of the kinds: ours where
// it announces them or announces nothing, else the standard ones.
func legend(c session.Client) []string {
	var names []string
	for _, n := range tokenNames {
		if len(c.TokenTypes) == 0 || slices.Contains(c.TokenTypes, n.own) {
			names = append(names, n.own)
		} else {
			names = append(names, n.standard)
		}
	}
	return names
}

// semanticTokensProvider is what is announced to a client that takes tokens. Whether
// there are any is for the user's settings to say, which may change.
func semanticTokensProvider(c session.Client) protocol.SemanticTokensProvider {
	if !c.SemanticTokens {
		return nil
	}
	return &protocol.SemanticTokensOptions{
		Legend: protocol.SemanticTokensLegend{TokenTypes: legend(c), TokenModifiers: []string{}},
		Range:  protocol.Boolean(true),
		Full:   protocol.Boolean(true),
	}
}

func (s *Server) semanticTokensFull(ctx context.Context, view *session.View, p *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error) {
	d := view.Document(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	return s.semanticTokens(ctx, d, 0, d.Text.Len())
}

func (s *Server) semanticTokensRange(ctx context.Context, view *session.View, p *protocol.SemanticTokensRangeParams) (*protocol.SemanticTokens, error) {
	d := view.Document(p.TextDocument.URI)
	if d == nil {
		return nil, nil
	}
	return s.semanticTokens(ctx, d, d.Text.Offset(p.Range.Start), d.Text.Offset(p.Range.End))
}

// semanticTokens are those of a stretch of a document; nil where the user wants none.
func (s *Server) semanticTokens(ctx context.Context, d *session.Snapshot, start, end int) (*protocol.SemanticTokens, error) {
	if !d.Watched() || d.Settings == nil || !d.Settings.SemanticTokens {
		return nil, nil
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	tokens := tokensIn(ctx, analysis, d.Text, start, end)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &protocol.SemanticTokens{Data: d.Text.Tokens(tokens)}, nil
}

// tokensIn are the tokens of a stretch of a text. Who printed a line and when go
// before what the line is, and what the report says of it before what its message
// says.
func tokensIn(ctx context.Context, a *analyzer.Analysis, text *position.Text, start, end int) []position.Token {
	var small, marked, large []position.Token
	add := func(to *[]position.Token, kind tokenKind, from, until int) {
		if from < until && until > start && from < end && len(small)+len(marked)+len(large) < maxTokens {
			*to = append(*to, position.Token{Start: from, End: until, Type: uint32(kind)})
		}
	}
	for _, m := range marks(a.Report, text) {
		kind := tokenInitiator
		if m.kind == markCollateral {
			kind = tokenCollateral
		}
		add(&marked, kind, m.start, m.end)
	}
	for record := range records(ctx, a, text, start, end) {
		add(&small, tokenRank, int(record.Who.Offset), int(record.Who.EndOffset))
		add(&small, tokenTime, int(record.When.Offset), int(record.When.EndOffset))
		if kind, ok := kindOf(text, &record); ok {
			add(&large, kind, int(record.Text.Offset), int(record.Text.EndOffset))
		}
	}
	return slices.Concat(small, marked, large)
}

// kindOf is what a record is by its messages: collateral, or noise if it is only
// advice or a state of a progress bar that was drawn over.
func kindOf(text *position.Text, record *incident.Line) (tokenKind, bool) {
	only := func(roles ...incident.Role) bool {
		return len(record.Messages) > 0 && !slices.ContainsFunc(record.Messages, func(m incident.Message) bool { return !slices.Contains(roles, m.Role) })
	}
	switch {
	case only(incident.RoleAdvice):
		return tokenNoise, true
	case only(incident.RoleCollateral, incident.RoleEcho):
		return tokenCollateral, true
	case drawnOver(text, int(record.Text.EndOffset)):
		return tokenNoise, true
	}
	return 0, false
}

// drawnOver reports whether the carriage return that ends a stretch is followed by
// something else than the line's end.
func drawnOver(text *position.Text, end int) bool {
	rest := text.Bytes()[end:]
	return len(rest) > 1 && rest[0] == '\r' && !bytes.HasPrefix(rest, []byte("\r\n"))
}
