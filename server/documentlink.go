package server

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/session"
)

// Bounds of the links of one document.
const (
	maxLinks = 5000
	// maxLinkPlaces bounds the different places in source files that are looked for.
	maxLinkPlaces = 1000
)

// documentLink leads from the frames of tracebacks to their lines in source files.
// A frame whose file is not here has no link, so there is nothing to resolve later.
func (s *Server) documentLink(ctx context.Context, view *session.View, p *protocol.DocumentLinkParams) ([]protocol.DocumentLink, error) {
	d, analysis, err := s.watched(ctx, view, p.TextDocument.URI)
	if d == nil || err != nil {
		return []protocol.DocumentLink{}, err
	}
	o, err := s.outline(ctx, d, analysis)
	if err != nil {
		return nil, err
	}
	files := newSources(view, d)
	type link struct {
		target  *uri.URI
		tooltip string
	}
	known := map[incident.Frame]link{}
	out := pieces(s, p.PartialResultToken, func(piece []protocol.DocumentLink) any { return piece })
	count := 0
	for _, f := range o.Frames {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if count == maxLinks {
			break
		}
		place := incident.Frame{Path: f.Path, Line: f.Frame.Line, Text: f.Text}
		to, seen := known[place]
		if !seen && len(known) < maxLinkPlaces {
			if file, ok := files.show(place); ok {
				to.target = ptr(uri.URI(fmt.Sprintf("%s#L%d", file.uri, file.line)))
				to.tooltip = fmt.Sprintf("%s, line %d", file.name, file.line)
			}
			known[place] = to
		}
		if to.target == nil {
			continue
		}
		l := protocol.DocumentLink{Range: d.Text.Range(int(f.Start), int(f.End)), Target: to.target}
		if view.Client.LinkTooltips {
			l.Tooltip = &to.tooltip
		}
		count++
		if err := out.add(ctx, l); err != nil {
			return nil, err
		}
	}
	return out.rest(ctx)
}
