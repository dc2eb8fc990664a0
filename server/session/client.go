package session

import (
	"slices"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server/position"
)

// Client is what a client said that it can do, as far as the server asks.
type Client struct {
	Convention position.Convention

	RelatedInformation bool
	UnnecessaryTag     bool
	Markdown           bool

	ActionLiterals    bool
	PreferredActions  bool
	ResolvesEdits     bool
	DocumentChanges   bool
	ChangeAnnotations bool
	SnippetEdits      bool
}

// NewClient reads an initialize request.
func NewClient(p *protocol.InitializeParams) Client {
	c := Client{Convention: position.Convention{
		Encoding:     encoding(p.Capabilities.General),
		LoneCRIsText: slices.Contains(lineFeedEditors, p.ClientInfo.Name),
	}}
	if d := p.Capabilities.TextDocument; d != nil {
		if d.PublishDiagnostics != nil {
			c.RelatedInformation = yes(d.PublishDiagnostics.RelatedInformation)
			c.UnnecessaryTag = slices.Contains(d.PublishDiagnostics.TagSupport.ValueSet, protocol.DiagnosticTagUnnecessary)
		}
		if d.Hover != nil {
			c.Markdown = slices.Contains(d.Hover.ContentFormat, protocol.MarkupKindMarkdown)
		}
		if a := d.CodeAction; a != nil {
			c.ActionLiterals = a.CodeActionLiteralSupport.CodeActionKind.ValueSet != nil
			c.PreferredActions = yes(a.IsPreferredSupport)
			c.ResolvesEdits = yes(a.DataSupport) && slices.Contains(a.ResolveSupport.Properties, "edit")
		}
	}
	if w := p.Capabilities.Workspace; w != nil && w.WorkspaceEdit != nil {
		c.DocumentChanges = yes(w.WorkspaceEdit.DocumentChanges)
		c.ChangeAnnotations = c.DocumentChanges && w.WorkspaceEdit.ChangeAnnotationSupport != nil
		c.SnippetEdits = c.DocumentChanges && yes(w.WorkspaceEdit.SnippetEditSupport)
	}
	return c
}

// lineFeedEditors are the clients, by the names that they give themselves, that
// end a line at LF and CRLF only. The protocol names a lone CR, too, but where
// these show a progress bar on one line, its positions are on one line.
var lineFeedEditors = []string{"Neovim", "helix", "Eglot"}

// encoding picks the cheapest unit of those that the client offers. All clients
// know UTF-16, offered or not.
func encoding(g *protocol.GeneralClientCapabilities) protocol.PositionEncodingKind {
	if g == nil || len(g.PositionEncodings) == 0 {
		return protocol.PositionEncodingKindUTF16
	}
	for _, kind := range []protocol.PositionEncodingKind{
		protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16, protocol.PositionEncodingKindUTF32,
	} {
		if slices.Contains(g.PositionEncodings, kind) {
			return kind
		}
	}
	return protocol.PositionEncodingKindUTF16
}

func yes(b *bool) bool { return b != nil && *b }
