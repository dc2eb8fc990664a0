package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxTitle bounds the title of a lens and the name of a symbol, in characters.
const maxTitle = 100

// codeLens stands above the block that shows the failure and above the line that
// states it: who started it and how many suffered, then what can be done. A log
// without a failure has none. The lenses are whole as they are, so that there is
// nothing to resolve.
func (s *Server) codeLens(ctx context.Context, view *session.View, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	lenses := []protocol.CodeLens{}
	d, analysis, err := s.watched(ctx, view, p.TextDocument.URI)
	if d == nil || err != nil {
		return lenses, err
	}
	all := marks(analysis.Report, d.Text)
	if len(all) == 0 {
		return lenses, nil
	}
	commands := s.lensCommands(view, d, analysis)
	start, end := all[0].start, all[0].end
	if i := analysis.Report.Verdict.Initiator; i != nil {
		if first, _ := block(all[0], i); d.Text.Line(first) != d.Text.Line(start) {
			_, lineEnd := d.Text.Bounds(d.Text.Line(first))
			lenses = lensesOn(lenses, d.Text.Range(first, lineEnd), commands)
		}
	}
	return lensesOn(lenses, d.Text.Range(start, end), commands), nil
}

func lensesOn(list []protocol.CodeLens, at protocol.Range, commands []protocol.Command) []protocol.CodeLens {
	for _, c := range commands {
		list = append(list, protocol.CodeLens{Range: at, Command: c})
	}
	return list
}

// lensCommands are what stands above the failure, from left to right: the answer,
// which opens the report, the fix and its check.
func (s *Server) lensCommands(view *session.View, d *session.Snapshot, a *analyzer.Analysis) []protocol.Command {
	v := &a.Report.Verdict
	on, err := json.Marshal(documentArgument{URI: string(d.URI)})
	if err != nil {
		return nil
	}
	commands := []protocol.Command{{Title: brief(v), Command: CommandOpenReport, Arguments: []protocol.LSPAny{on}}}
	if fix := s.fixLens(view, d, a, on); fix != nil {
		commands = append(commands, *fix)
	}
	if check := copyCheck(v); check != nil {
		commands = append(commands, *check)
	}
	return commands
}

// fixLens edits the source where that is known and the client makes edits that
// it is asked for; else it copies the fix.
func (s *Server) fixLens(view *session.View, d *session.Snapshot, a *analyzer.Analysis, on protocol.LSPAny) *protocol.Command {
	if view.Client.AppliesEdits {
		if action := s.fixAction(view, d, a); action != nil {
			return &protocol.Command{Title: action.Title, Command: CommandFix, Arguments: []protocol.LSPAny{on}}
		}
	}
	fixes := a.Report.Verdict.Fixes
	if len(fixes) == 0 || fixes[0].Code == "" {
		return nil
	}
	text, err := json.Marshal(fixes[0].Code)
	if err != nil {
		return nil
	}
	return &protocol.Command{
		Title: short("Copy the fix: " + fixes[0].Title), Command: CommandCopyText, Arguments: []protocol.LSPAny{text},
	}
}

// brief is the answer in a few words: "rank 3 started it; 63 collateral".
func brief(v *incident.Verdict) string {
	title := lowerFirst(v.Title)
	if who, _, ok := strings.Cut(title, " started it: "); ok {
		title = who + " started it"
	}
	if v.Status == incident.Undetermined && !strings.HasPrefix(title, "undetermined") {
		title = "undetermined: " + title
	}
	title = short(title)
	if v.Status == incident.Diagnosed && v.Confidence != "" && v.Confidence != incident.Confirmed {
		title += " (" + string(v.Confidence) + ")"
	}
	if n := len(v.Collateral); n > 0 {
		title += fmt.Sprintf("; %d collateral", n)
	}
	return title
}

// short makes one line of a text and cuts it at maxTitle characters.
func short(text string) string {
	clean := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\ufffd' }), " "))
	if len(clean) > maxTitle {
		clean = append(clean[:maxTitle-3], []rune("...")...)
	}
	return string(clean)
}
