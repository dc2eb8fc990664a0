package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/outline"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxSymbols bounds the messages that are told of one document. Of more, those that
// tell of the failure are kept before those that are only context, and the
// incident's symbol says how many are left out.
const maxSymbols = 1000

// symbolProvider tells clients that show several outlines of a document which is
// ours.
func symbolProvider(c session.Client) protocol.DocumentSymbolProvider {
	if c.SymbolLabel {
		return &protocol.DocumentSymbolOptions{Label: ptr(Source)}
	}
	return protocol.Boolean(true)
}

// documentSymbol is the incident as a tree: the failure, in it the processes that
// said something known, and in each of them what they said. A client that takes no
// tree gets the same as a list.
func (s *Server) documentSymbol(ctx context.Context, view *session.View, p *protocol.DocumentSymbolParams) (protocol.DocumentSymbolResult, error) {
	d, analysis, err := s.watched(ctx, view, p.TextDocument.URI)
	if d == nil || err != nil {
		return protocol.DocumentSymbolSlice{}, err
	}
	o, err := s.outline(ctx, d, analysis)
	if err != nil {
		return nil, err
	}
	root := symbols(analysis.Report, o, d.Text)
	if root == nil {
		return protocol.DocumentSymbolSlice{}, nil
	}
	kinds := view.Client.SymbolKinds
	if view.Client.HierarchicalSymbols {
		tree, err := deliver(ctx, s, p.PartialResultToken, []protocol.DocumentSymbol{root.tree(kinds, d.Text)})
		return protocol.DocumentSymbolSlice(tree), err
	}
	list, err := deliver(ctx, s, p.PartialResultToken, root.list(nil, kinds, d, ""))
	return protocol.SymbolInformationSlice(list), err
}

// symbol is a part of the incident.
type symbol struct {
	name, detail string
	kind, basic  protocol.SymbolKind // basic is for clients that do not know kind
	start, end   int                 // of all of it
	first, last  int                 // of the line that stands for it, within
	parts        []symbol
}

// symbols is the incident of a report; nil where nothing known was said.
func symbols(r *incident.Report, o *outline.Outline, text *position.Text) *symbol {
	events, dropped := tellingEvents(r)
	all := marks(r, text)
	if len(all) == 0 && len(events) == 0 {
		return nil
	}
	root := &symbol{name: short(r.Verdict.Title), kind: protocol.SymbolKindEvent, basic: protocol.SymbolKindModule}
	if len(all) > 0 {
		root.name = brief(&r.Verdict)
		root.include(all[0].start, all[0].end)
		root.first, root.last = all[0].start, all[0].end
	}
	if dropped > 0 {
		root.detail = fmt.Sprintf("%d messages more are left out", dropped)
	}
	root.parts = bySpeaker(r, events, o, text)
	for _, p := range root.parts {
		root.include(p.start, p.end)
	}
	if len(all) == 0 {
		root.first, root.last = root.parts[0].first, root.parts[0].last
	}
	return root
}

// importance orders the roles of messages; a role that is not in it is not told.
var importance = map[incident.Role]int{
	incident.RoleInitiator: 1, incident.RoleCollateral: 2, incident.RoleEcho: 3, incident.RoleSymptom: 4, incident.RoleContext: 5,
}

// tellingEvents are the messages that are told, in the order of the document, and
// how many are not.
func tellingEvents(r *incident.Report) (events []*incident.Event, dropped int) {
	for i := range r.Events {
		if e := &r.Events[i]; importance[e.Role] > 0 && isSet(&e.Location) {
			events = append(events, e)
		}
	}
	if len(events) > maxSymbols {
		slices.SortStableFunc(events, func(a, b *incident.Event) int { return cmp.Compare(importance[a.Role], importance[b.Role]) })
		dropped = len(events) - maxSymbols
		events = events[:maxSymbols]
	}
	slices.SortStableFunc(events, func(a, b *incident.Event) int { return cmp.Compare(a.Location.Offset, b.Location.Offset) })
	return events, dropped
}

// bySpeaker groups messages by who they are of: the one that started it first, then
// the ranks, then the other processes as they come.
func bySpeaker(r *incident.Report, events []*incident.Event, o *outline.Outline, text *position.Text) []symbol {
	type speaker struct {
		symbol
		rank  *int
		order int
		last  *incident.Event
		times int
	}
	var all []*speaker
	known := map[string]*speaker{}
	for _, e := range events {
		name, rank := incident.Origin{Rank: e.Rank}.Name(), e.Rank
		if i := o.PrinterAt(e.Location.Offset); name == "" && i >= 0 {
			name, rank = o.Printers[i].Name, o.Printers[i].Rank
		}
		if name == "" {
			name = "lines of no known process"
		}
		s := known[name]
		if s == nil {
			s = &speaker{symbol: symbol{name: name, kind: protocol.SymbolKindNamespace, basic: protocol.SymbolKindNamespace}, rank: rank, order: len(all)}
			known[name] = s
			all = append(all, s)
		}
		start, end := stretch(text, &e.Location)
		if n := len(s.parts); n > 0 && s.parts[n-1].first == start {
			continue // another message knows the same line
		}
		s.include(start, end)
		if s.last != nil && s.last.Message == e.Message && s.last.Role == e.Role {
			s.times++
			same := &s.parts[len(s.parts)-1]
			same.include(start, end)
			same.detail = fmt.Sprintf("%s, %d times", said(e), s.times)
		} else {
			s.parts = append(s.parts, message(e, start, end))
			s.times = 1
		}
		s.last = e
	}
	started := name(r.Verdict.Initiator)
	groups := make([]symbol, 0, len(all))
	slices.SortFunc(all, func(a, b *speaker) int {
		first := func(s *speaker) int {
			switch {
			case s.name == started:
				return 0
			case s.rank != nil:
				return 1
			}
			return 2
		}
		byRank := 0
		if a.rank != nil && b.rank != nil {
			byRank = cmp.Compare(*a.rank, *b.rank)
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), byRank, cmp.Compare(a.order, b.order))
	})
	roles := rolesOf(&r.Verdict)
	for _, s := range all {
		s.detail = roles[s.name]
		s.first, s.symbol.last = s.parts[0].first, s.parts[0].last
		for _, p := range s.parts { // the first message of those that matter most
			if p.kind == protocol.SymbolKindEvent {
				s.first, s.symbol.last = p.first, p.last
				break
			}
		}
		groups = append(groups, s.symbol)
	}
	return groups
}

// rolesOf says of the processes that the verdict names what part they had.
func rolesOf(v *incident.Verdict) map[string]string {
	roles := map[string]string{}
	for i := range v.Collateral {
		c := &v.Collateral[i]
		roles[incident.Origin{Rank: c.Rank}.Name()] = string(cmp.Or(c.Role, incident.RoleCollateral))
	}
	for i := range v.CoInitiators {
		roles[name(&v.CoInitiators[i])] = "failed at the same time"
	}
	if v.Initiator != nil {
		roles[name(v.Initiator)] = "started it"
		if v.Status == incident.Undetermined {
			roles[name(v.Initiator)] = "suspect"
		}
	}
	delete(roles, "")
	return roles
}

// message is the symbol of one message.
func message(e *incident.Event, start, end int) symbol {
	s := symbol{
		name: short(e.Location.Text), detail: said(e), start: start, end: end, first: start, last: end,
		kind: protocol.SymbolKindString, basic: protocol.SymbolKindString,
	}
	if s.name == "" {
		s.name = e.Message
	}
	if e.Role == incident.RoleInitiator {
		s.kind, s.basic = protocol.SymbolKindEvent, protocol.SymbolKindConstant
	}
	return s
}

// said names a message and its part: "collateral, nccl-watchdog-timeout".
func said(e *incident.Event) string { return fmt.Sprintf("%s, %s", e.Role, e.Message) }

// include makes the symbol large enough for the bytes from start to end.
func (s *symbol) include(start, end int) {
	if s.end == 0 && s.start == 0 {
		s.start, s.end = start, end
		return
	}
	s.start, s.end = min(s.start, start), max(s.end, end)
}

// shown is the kind as the client knows it. All know those up to Array.
func (s *symbol) shown(known []protocol.SymbolKind) protocol.SymbolKind {
	if s.kind <= protocol.SymbolKindArray && known == nil || slices.Contains(known, s.kind) {
		return s.kind
	}
	return s.basic
}

func (s *symbol) tree(kinds []protocol.SymbolKind, text *position.Text) protocol.DocumentSymbol {
	t := protocol.DocumentSymbol{
		Name: s.name, Kind: s.shown(kinds), Range: text.Range(s.start, s.end), SelectionRange: text.Range(s.first, s.last),
	}
	if s.detail != "" {
		t.Detail = &s.detail
	}
	for i := range s.parts {
		t.Children = append(t.Children, s.parts[i].tree(kinds, text))
	}
	return t
}

func (s *symbol) list(into []protocol.SymbolInformation, kinds []protocol.SymbolKind, d *session.Snapshot, within string) []protocol.SymbolInformation {
	i := protocol.SymbolInformation{
		BaseSymbolInformation: protocol.BaseSymbolInformation{Name: s.name, Kind: s.shown(kinds)},
		Location:              protocol.Location{URI: d.URI, Range: d.Text.Range(s.first, s.last)},
	}
	if within != "" {
		i.ContainerName = &within
	}
	into = append(into, i)
	for k := range s.parts {
		into = s.parts[k].list(into, kinds, d, s.name)
	}
	return into
}
