package server

import (
	"cmp"
	"context"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxReferences bounds the lines of one answer; the first ones are given.
const maxReferences = 2000

// references answers on the initiating line, and on those that failed at the same
// time, with all lines of the others that only suffered, and on each line that
// suffered with the same.
func (s *Server) references(ctx context.Context, view *session.View, p *protocol.ReferenceParams) ([]protocol.Location, error) {
	d, analysis, err := s.watched(ctx, view, p.TextDocument.URI)
	if d == nil || err != nil {
		return []protocol.Location{}, err
	}
	started, ok := startedIt(analysis.Report, d.Text)
	if !ok {
		return []protocol.Location{}, nil
	}
	suffered := victims(analysis.Report, d.Text)
	line := int(p.Position.Line)
	if !slices.ContainsFunc(started, func(m mark) bool { return m.on(d.Text, line, line) }) && !slices.ContainsFunc(suffered, func(v victim) bool { return v.line == line }) {
		return []protocol.Location{}, nil
	}
	var found []protocol.Location
	if p.Context.IncludeDeclaration {
		found = append(found, protocol.Location{URI: d.URI, Range: d.Text.Range(started[0].start, started[0].end)})
	}
	for _, v := range suffered {
		if v.own {
			continue
		}
		found = append(found, protocol.Location{URI: d.URI, Range: d.Text.Range(v.start, v.end)})
	}
	return deliver(ctx, s, p.PartialResultToken, found)
}

// startedIt are the line that states the failure of who started it, first, and
// those that failed at the same time. ok is false where no line of the document
// states it.
func startedIt(r *incident.Report, text *position.Text) (started []mark, ok bool) {
	if statedAt(r.Verdict.Initiator) == nil {
		return nil, false
	}
	for _, m := range marks(r, text) {
		if m.kind != markCollateral {
			started = append(started, m)
		}
	}
	return started, len(started) > 0
}

// victim is a line that only suffered, or repeats what failed.
type victim struct {
	line, start, end int
	// own is set where the one that started it said it.
	own bool
}

// victims are the lines that only suffered, in the order of the document, at most
// maxReferences of them.
func victims(r *incident.Report, text *position.Text) []victim {
	var found []victim
	taken := map[int]bool{}
	for _, m := range marks(r, text) {
		if m.kind != markCollateral {
			taken[text.Line(m.start)] = true
		}
	}
	add := func(at *incident.Location, rank *int) {
		if !isSet(at) {
			return
		}
		start, end := stretch(text, at)
		if line := text.Line(start); !taken[line] {
			taken[line] = true
			i := r.Verdict.Initiator
			found = append(found, victim{line, start, end, i != nil && i.Rank != nil && rank != nil && *i.Rank == *rank})
		}
	}
	for i := range r.Verdict.Collateral {
		add(&r.Verdict.Collateral[i].Location, r.Verdict.Collateral[i].Rank)
	}
	for i := range r.Events {
		if role := r.Events[i].Role; role == incident.RoleCollateral || role == incident.RoleEcho {
			add(&r.Events[i].Location, r.Events[i].Rank)
		}
	}
	slices.SortFunc(found, func(a, b victim) int { return cmp.Compare(a.line, b.line) })
	return found[:min(len(found), maxReferences)]
}
