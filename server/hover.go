package server

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/server/session"
)

func (s *Server) hover(ctx context.Context, view *session.View, p *protocol.HoverParams) (*protocol.Hover, error) {
	d := view.Document(p.TextDocument.URI)
	if d == nil || !d.Watched() {
		return nil, nil
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	line := int(p.Position.Line)
	for _, m := range marks(analysis.Report, d.Text) {
		if !m.on(d.Text, line, line) {
			continue
		}
		text, ok := render.Hover(analysis.Report, m.offset, links(d))
		if !ok {
			return nil, nil
		}
		content := &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text}
		if !view.Client.Markdown {
			content = &protocol.MarkupContent{Kind: protocol.MarkupKindPlainText, Value: plain(text)}
		}
		return &protocol.Hover{Contents: content, Range: ptr(d.Text.Range(m.start, m.end))}, nil
	}
	return nil, nil
}

// links names a place of the report as the editor numbers its lines, with a link
// to it where editors follow one.
func links(d *session.Snapshot) render.Link {
	return func(at incident.Location) string {
		start, _ := stretch(d.Text, &at)
		name := place(d.Text, start)
		if !d.Key.IsFile() {
			return name
		}
		// The canonical form has nothing in it that would end the link.
		return fmt.Sprintf("[%s](%s#L%d)", name, d.Key, d.Text.Line(start)+1)
	}
}

var (
	markdownLink = regexp.MustCompile(`\[((?:line|\d)[^\]]*)\]\([^)]*\)`)
	markdownRule = regexp.MustCompile(`(?m)^\|( ?-+ ?\|)+\n`)
)

// plain takes the Markdown out of what package render makes.
func plain(markdown string) string {
	markdown = markdownRule.ReplaceAllString(markdownLink.ReplaceAllString(markdown, "$1"), "")
	var b strings.Builder
	for i := 0; i < len(markdown); i++ {
		switch c := markdown[i]; {
		case c == '\\' && i+1 < len(markdown) && strings.IndexByte("\\`*_[]#|", markdown[i+1]) >= 0:
			i++
			b.WriteByte(markdown[i])
		case c == '*' || c == '`':
		default:
			b.WriteByte(c)
		}
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "  \n", "\n").Replace(b.String())
}
