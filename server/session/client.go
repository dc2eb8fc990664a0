package session

import (
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server/position"
)

// Client is what a client said that it can do, as far as the server asks.
type Client struct {
	Convention position.Convention
	// Name and Version are what the client calls itself.
	Name, Version string

	// Configuration: the server may ask for settings; the Registers are what it may
	// have itself told of.
	Configuration          bool
	RegistersConfiguration bool
	RegistersWatchedFiles  bool
	RelativePatterns       bool
	WorkDoneProgress       bool
	TextDocumentContent    bool
	RefreshesLenses        bool

	// PullsDiagnostics: it asks for diagnostics, and is sent none unasked. With
	// RefreshesDiagnostics it can be told to ask again.
	PullsDiagnostics     bool
	RefreshesDiagnostics bool
	RelatedInformation   bool
	UnnecessaryTag       bool
	Markdown             bool

	ActionLiterals    bool
	PreferredActions  bool
	ResolvesEdits     bool
	DocumentChanges   bool
	ChangeAnnotations bool
	SnippetEdits      bool
	// AppliesEdits: it makes an edit that the server asks for.
	AppliesEdits bool
	// ShowsDocuments: it opens a document that the server asks for.
	ShowsDocuments bool

	// HierarchicalSymbols: it takes a tree of symbols. The kinds are those that it
	// knows, nil for the oldest ones only.
	HierarchicalSymbols  bool
	SymbolLabel          bool
	SymbolKinds          []protocol.SymbolKind
	WorkspaceSymbolKinds []protocol.SymbolKind
	DefinitionLinks      bool
	LinkTooltips         bool
	// FoldingRanges is how many it wants at most; 0 where it does not say.
	FoldingRanges int
	FoldingText   bool
	// FoldingKinds are those that it knows, nil where it does not say.
	FoldingKinds []protocol.FoldingRangeKind

	// InlayHints and SemanticTokens: it shows them; with the Refreshes it can be told
	// to ask again. TokenTypes are those that it knows.
	InlayHints      bool
	RefreshesHints  bool
	SemanticTokens  bool
	RefreshesTokens bool
	TokenTypes      []string
}

// NewClient reads an initialize request.
func NewClient(p *protocol.InitializeParams) Client {
	c := Client{Convention: position.Convention{
		Encoding:     encoding(p.Capabilities.General),
		LoneCRIsText: slices.Contains(lineFeedEditors, p.ClientInfo.Name),
	}}
	c.Name = strings.Clone(p.ClientInfo.Name)
	c.Version, _ = p.ClientInfo.Version.Get()
	c.Version = strings.Clone(c.Version)
	if w := p.Capabilities.Window; w != nil {
		c.WorkDoneProgress = yes(w.WorkDoneProgress)
		c.ShowsDocuments = w.ShowDocument != nil && w.ShowDocument.Support
	}
	if w := p.Capabilities.Workspace; w != nil {
		c.Configuration = yes(w.Configuration)
		c.RegistersConfiguration = w.DidChangeConfiguration != nil && yes(w.DidChangeConfiguration.DynamicRegistration)
		if f := w.DidChangeWatchedFiles; f != nil {
			c.RegistersWatchedFiles, c.RelativePatterns = yes(f.DynamicRegistration), yes(f.RelativePatternSupport)
		}
		c.TextDocumentContent = w.TextDocumentContent != nil
		c.RefreshesLenses = w.CodeLens != nil && yes(w.CodeLens.RefreshSupport)
		c.RefreshesDiagnostics = w.Diagnostics != nil && yes(w.Diagnostics.RefreshSupport)
	}
	if d := p.Capabilities.TextDocument; d != nil {
		if d.PublishDiagnostics != nil {
			c.RelatedInformation = yes(d.PublishDiagnostics.RelatedInformation)
			c.UnnecessaryTag = slices.Contains(d.PublishDiagnostics.TagSupport.ValueSet, protocol.DiagnosticTagUnnecessary)
		}
		if pull := d.Diagnostic; pull != nil {
			c.PullsDiagnostics = true
			// Before LSP 3.18 the abilities of publishDiagnostics counted for both.
			c.RelatedInformation = c.RelatedInformation || yes(pull.RelatedInformation)
			c.UnnecessaryTag = c.UnnecessaryTag || slices.Contains(pull.TagSupport.ValueSet, protocol.DiagnosticTagUnnecessary)
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
	c.navigation(p.Capabilities.TextDocument, p.Capabilities.Workspace)
	c.decoration(p.Capabilities.TextDocument, p.Capabilities.Workspace)
	if w := p.Capabilities.Workspace; w != nil && w.WorkspaceEdit != nil {
		c.DocumentChanges = yes(w.WorkspaceEdit.DocumentChanges)
		c.ChangeAnnotations = c.DocumentChanges && w.WorkspaceEdit.ChangeAnnotationSupport != nil
		c.SnippetEdits = c.DocumentChanges && yes(w.WorkspaceEdit.SnippetEditSupport)
	}
	return c
}

// navigation reads what it says of symbols, links, folding and what leads elsewhere.
func (c *Client) navigation(d *protocol.TextDocumentClientCapabilities, w *protocol.WorkspaceClientCapabilities) {
	if w != nil {
		c.AppliesEdits = yes(w.ApplyEdit)
		if w.Symbol != nil && w.Symbol.SymbolKind != nil {
			c.WorkspaceSymbolKinds = slices.Clone(w.Symbol.SymbolKind.ValueSet)
		}
	}
	if d == nil {
		return
	}
	if s := d.DocumentSymbol; s != nil {
		c.HierarchicalSymbols, c.SymbolLabel = yes(s.HierarchicalDocumentSymbolSupport), yes(s.LabelSupport)
		if s.SymbolKind != nil {
			c.SymbolKinds = slices.Clone(s.SymbolKind.ValueSet)
		}
	}
	c.DefinitionLinks = d.Definition != nil && yes(d.Definition.LinkSupport)
	c.LinkTooltips = d.DocumentLink != nil && yes(d.DocumentLink.TooltipSupport)
	if f := d.FoldingRange; f != nil {
		if f.RangeLimit != nil {
			c.FoldingRanges = int(*f.RangeLimit)
		}
		c.FoldingText = f.FoldingRange != nil && yes(f.FoldingRange.CollapsedText)
		if f.FoldingRangeKind != nil {
			for _, kind := range f.FoldingRangeKind.ValueSet {
				c.FoldingKinds = append(c.FoldingKinds, protocol.FoldingRangeKind(strings.Clone(string(kind))))
			}
		}
	}
}

// decoration reads what it says of what is shown on the lines themselves.
func (c *Client) decoration(d *protocol.TextDocumentClientCapabilities, w *protocol.WorkspaceClientCapabilities) {
	if d == nil {
		return
	}
	c.InlayHints = d.InlayHint != nil
	requests := d.SemanticTokens.Requests
	c.SemanticTokens = requests.Full != nil && requests.Full != protocol.Boolean(false) ||
		requests.Range != nil && requests.Range != protocol.Boolean(false)
	for _, name := range d.SemanticTokens.TokenTypes {
		c.TokenTypes = append(c.TokenTypes, strings.Clone(name))
	}
	if w != nil {
		c.RefreshesHints = w.InlayHint != nil && yes(w.InlayHint.RefreshSupport)
		c.RefreshesTokens = w.SemanticTokens != nil && yes(w.SemanticTokens.RefreshSupport)
	}
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
