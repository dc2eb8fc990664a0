package server

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/server/session"
)

// hover says what a line means: the verdict's own words on a line that it marks, and
// on any line that a signature knows what it says, who printed it and when.
func (s *Server) hover(ctx context.Context, view *session.View, p *protocol.HoverParams) (*protocol.Hover, error) {
	d := view.Document(p.TextDocument.URI)
	if d == nil || !d.Watched() || uint64(p.Position.Line) >= uint64(d.Text.Lines()) {
		return nil, nil
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	line, offset := int(p.Position.Line), d.Text.Offset(p.Position)
	h := hoverText{d: d, analysis: analysis, markdown: view.Client.Markdown}
	start, end, ok := h.marked(line)
	if record := recordAt(ctx, analysis, d, line, offset); record != nil && h.decoded(record) && !ok {
		start, end = int(record.Text.Offset), int(record.Text.EndOffset)
		if offset < start || offset > end { // on its prefix
			start, end = d.Text.Bounds(line)
		}
	}
	if err := ctx.Err(); err != nil || h.text == "" {
		return nil, err
	}
	content := &protocol.MarkupContent{Kind: protocol.MarkupKindPlainText, Value: h.text}
	if view.Client.Markdown {
		content.Kind = protocol.MarkupKindMarkdown
	}
	return &protocol.Hover{Contents: content, Range: ptr(d.Text.Range(start, end))}, nil
}

// hoverText is a hover that is put together.
type hoverText struct {
	d        *session.Snapshot
	analysis *analyzer.Analysis
	markdown bool

	text string
	// above is the verdict's part, in Markdown.
	above string
}

// marked adds what the report says of an editor's line, and returns the bytes that
// it marks there; ok is false if it does not speak of the line.
func (h *hoverText) marked(line int) (start, end int, ok bool) {
	for _, m := range marks(h.analysis.Report, h.d.Text) {
		if !m.on(h.d.Text, line, line) {
			continue
		}
		if h.above, ok = render.Hover(h.analysis.Report, m.offset, links(h.d)); ok {
			h.text = h.above
			if !h.markdown {
				h.text = plain(h.above)
			}
		}
		return m.start, m.end, ok
	}
	return 0, 0, false
}

// decoded adds what a record says, as far as there is room.
func (h *hoverText) decoded(record *incident.Line) bool {
	o := render.LineOptions{Link: links(h.d), Initiating: statedAt(h.analysis.Report.Verdict.Initiator), Below: h.above}
	if !h.markdown {
		o.Plain, o.Link = true, places(h.d)
	}
	text, ok := render.Line(record, o)
	h.text += text
	return ok
}

// places names a place of the report as the editor numbers its lines.
func places(d *session.Snapshot) render.Link {
	return func(at incident.Location) string {
		start, _ := stretch(d.Text, &at)
		return place(d.Text, start)
	}
}

// links names a place of the report as the editor numbers its lines, with a link
// to it where editors follow one.
func links(d *session.Snapshot) render.Link {
	return func(at incident.Location) string {
		name := places(d)(at)
		if !d.Key.IsFile() {
			return name
		}
		start, _ := stretch(d.Text, &at)
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
