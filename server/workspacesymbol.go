package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxWorkspaceSymbols bounds one answer; the query narrows it.
const maxWorkspaceSymbols = 1000

// workspaceSymbol finds the incidents of the open logs, and the processes that they
// tell of.
func (s *Server) workspaceSymbol(ctx context.Context, view *session.View, p *protocol.WorkspaceSymbolParams) (protocol.WorkspaceSymbolResult, error) {
	var logs []*session.Snapshot
	for _, d := range view.Documents() {
		if d.Analysable() {
			logs = append(logs, d)
		}
	}
	slices.SortFunc(logs, func(a, b *session.Snapshot) int { return cmp.Compare(a.Key, b.Key) })
	out := pieces(s, p.PartialResultToken, func(piece []protocol.SymbolInformation) any { return piece })
	left := maxWorkspaceSymbols
	for _, d := range logs {
		_, analysis, err := s.watched(ctx, view, d.Key)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || analysis == nil {
			continue // one log that cannot be read does not hide the others
		}
		file := displayName(view, d)
		for _, symbol := range people(analysis.Report, d) {
			if left == 0 {
				break
			}
			if !matches(p.Query, symbol.name+" "+file) {
				continue
			}
			left--
			if err := out.add(ctx, symbol.list(nil, view.Client.WorkspaceSymbolKinds, d, file)...); err != nil {
				return nil, err
			}
		}
	}
	found, err := out.rest(ctx)
	return protocol.SymbolInformationSlice(found), err
}

// people are the incident of a log and the processes in it, each with the line
// that matters most: the one that says what part it had, else its first that is
// known.
func people(r *incident.Report, d *session.Snapshot) []symbol {
	var found []symbol
	if all := marks(r, d.Text); len(all) > 0 {
		found = append(found, symbol{
			name: brief(&r.Verdict), kind: protocol.SymbolKindEvent, basic: protocol.SymbolKindModule,
			first: all[0].start, last: all[0].end,
		})
	}
	roles := rolesOf(&r.Verdict)
	seen := map[string]bool{}
	add := func(who string, at *incident.Location) {
		if who == "" || seen[who] || !isSet(at) {
			return
		}
		seen[who] = true
		p := symbol{name: who, kind: protocol.SymbolKindNamespace, basic: protocol.SymbolKindNamespace}
		if part := roles[who]; part != "" {
			p.name += ": " + part
		}
		p.first, p.last = stretch(d.Text, at)
		found = append(found, p)
	}
	v := &r.Verdict
	if at := statedAt(v.Initiator); at != nil {
		add(name(v.Initiator), at)
	}
	for i := range v.CoInitiators {
		if at := statedAt(&v.CoInitiators[i]); at != nil {
			add(name(&v.CoInitiators[i]), at)
		}
	}
	for i := range v.Collateral {
		add(incident.Origin{Rank: v.Collateral[i].Rank}.Name(), &v.Collateral[i].Location)
	}
	for i := range r.Events {
		add(incident.Origin{Rank: r.Events[i].Rank}.Name(), &r.Events[i].Location)
	}
	return found
}

// matches reports whether the letters of a query stand in a name, in their order
// and in whatever case. Clients rank what they get by themselves.
func matches(query, name string) bool {
	left := []rune(strings.ToLower(name))
	for _, c := range strings.ToLower(query) {
		if unicode.IsSpace(c) {
			continue
		}
		i := slices.Index(left, c)
		if i < 0 {
			return false
		}
		left = left[i+1:]
	}
	return true
}
