package server

import (
	"bytes"
	"context"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/outline"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// definition leads from a frame of a traceback, or from the code that it quotes, to
// the line of the source file; from a line that only suffered to the one that
// started it; and from that to itself, where editors then offer the references.
func (s *Server) definition(ctx context.Context, view *session.View, p *protocol.DefinitionParams) (protocol.DefinitionResult, error) {
	d, analysis, err := s.watched(ctx, view, p.TextDocument.URI)
	if d == nil || err != nil || uint64(p.Position.Line) >= uint64(d.Text.Lines()) {
		return nil, err
	}
	line := int(p.Position.Line)
	o, err := s.outline(ctx, d, analysis)
	if err != nil {
		return nil, err
	}
	start, end := d.Text.Bounds(line)
	if f, ok := frameOn(o, int64(start), int64(end)); ok {
		to, ok := newSources(view, d).show(f.Frame)
		if !ok {
			return nil, nil
		}
		origin := d.Text.Range(start, end)
		if at := int64(d.Text.Offset(p.Position)); f.Start <= at && at <= f.End {
			origin = d.Text.Range(int(f.Start), int(f.End))
		}
		target := to.place(view.Client.Convention)
		return leads(view.Client, protocol.LocationLink{
			OriginSelectionRange: &origin, TargetURI: to.uri, TargetRange: target, TargetSelectionRange: target,
		}), nil
	}
	started, ok := startedIt(analysis.Report, d.Text)
	if !ok {
		return nil, nil
	}
	on := func(m mark) bool { return m.on(d.Text, line, line) }
	if !slices.ContainsFunc(victims(analysis.Report, d.Text), func(v victim) bool { return v.line == line }) && !slices.ContainsFunc(started, on) {
		return nil, nil
	}
	stated := d.Text.Range(started[0].start, started[0].end)
	return leads(view.Client, protocol.LocationLink{
		OriginSelectionRange: ptr(d.Text.Range(start, end)), TargetURI: d.URI,
		TargetRange: d.Text.Range(block(started[0], analysis.Report.Verdict.Initiator)), TargetSelectionRange: stated,
	}), nil
}

// leads is the answer in the form that the client takes.
func leads(c session.Client, to protocol.LocationLink) protocol.DefinitionResult {
	if c.DefinitionLinks {
		return protocol.DefinitionLinkSlice{protocol.DefinitionLink(to)}
	}
	return &protocol.Location{URI: to.TargetURI, Range: to.TargetSelectionRange}
}

// frameOn is the frame that stands on the line with these bounds, or whose source
// is quoted there.
func frameOn(o *outline.Outline, start, end int64) (outline.Frame, bool) {
	for _, f := range o.Frames {
		named := f.LineStart <= end && f.LineEnd >= start
		quoted := f.QuoteEnd > f.QuoteStart && f.QuoteStart <= end && f.QuoteEnd >= start
		if named || quoted {
			return f, true
		}
	}
	return outline.Frame{}, false
}

// block are the bounds of the whole block that shows the failure, which has the
// line that states it.
func block(stated mark, i *incident.Initiator) (start, end int) {
	if at := i.Location; at != nil && int(at.Offset) <= stated.start && int(at.EndOffset) >= stated.end {
		return int(at.Offset), int(at.EndOffset)
	}
	return stated.start, stated.end
}

// place is the range of the frame's line in the source file, without its indent.
func (s *source) place(c position.Convention) protocol.Range {
	text := position.New(s.text, c)
	start, end := text.Bounds(s.line - 1)
	indent := len(s.text[start:end]) - len(bytes.TrimLeft(s.text[start:end], " \t"))
	return text.Range(start+indent, end)
}
