package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/pysource"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// sharePool is the id of the fix that has an edit of source code.
const sharePool = "share-graph-pool"

// actionData comes back with codeAction/resolve: of which document the snippet
// action was.
type actionData struct {
	Log uri.URI `json:"log"`
}

func (s *Server) codeAction(ctx context.Context, view *session.View, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	actions := []protocol.CommandOrCodeAction{}
	d := view.Document(p.TextDocument.URI)
	if d == nil || !d.Watched() || !wants(p.Context.Only, protocol.CodeActionKindQuickFix) {
		return actions, nil
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	first, last := int(p.Range.Start.Line), int(p.Range.End.Line)
	if !slices.ContainsFunc(marks(analysis.Report, d.Text), func(m mark) bool { return m.on(d.Text, first, last) }) {
		return actions, nil
	}
	ours := slices.DeleteFunc(slices.Clone(p.Context.Diagnostics), func(d protocol.Diagnostic) bool {
		source, _ := d.Source.Get()
		return source != Source
	})
	if action := s.fixAction(view, d, analysis); action != nil {
		action.Diagnostics = ours
		actions = append(actions, action)
	}
	if command := copyCheck(&analysis.Report.Verdict); command != nil {
		if !view.Client.ActionLiterals {
			return append(actions, command), nil
		}
		actions = append(actions, &protocol.CodeAction{
			Title: command.Title, Kind: ptr(protocol.CodeActionKindQuickFix), Diagnostics: ours, Command: *command,
		})
	}
	return actions, nil
}

// wants reports whether a kind is among those asked for: itself or one above it.
func wants(only []protocol.CodeActionKind, kind protocol.CodeActionKind) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(k protocol.CodeActionKind) bool {
		return k == protocol.CodeActionKindEmpty || k == kind || strings.HasPrefix(string(kind), string(k)+".")
	})
}

// copyCheck is the command that copies the command line that checks a fix.
func copyCheck(v *incident.Verdict) *protocol.Command {
	if len(v.Verify) == 0 || v.Verify[0].Command == "" {
		return nil
	}
	text, err := json.Marshal(v.Verify[0].Command)
	if err != nil {
		return nil
	}
	return &protocol.Command{Title: "Copy the check command", Command: CommandCopyText, Arguments: []protocol.LSPAny{text}}
}

// fixAction is the action that edits the source, or nil.
func (s *Server) fixAction(view *session.View, d *session.Snapshot, a *analyzer.Analysis) *protocol.CodeAction {
	i := slices.IndexFunc(a.Report.Verdict.Fixes, func(f incident.Fix) bool { return f.ID == sharePool })
	if i < 0 || !view.Client.ActionLiterals {
		return nil
	}
	fix := &a.Report.Verdict.Fixes[i]
	t, ok := findTarget(view, d, a.Frames)
	if !ok {
		return nil
	}
	if t.version == nil {
		s.watch(t.uri.FsPath(), watchedSource)
	}
	action := &protocol.CodeAction{Kind: ptr(protocol.CodeActionKindQuickFix)}
	// A file that is only on disk may be changed before an edit without a version
	// is applied, so a client that knows no versions gets comments alone.
	if t.plain && view.Client.DocumentChanges {
		action.Title = fmt.Sprintf("Share one graph pool over the captures in %s:%d", t.name, t.edit.SiteLine)
		if view.Client.PreferredActions {
			action.IsPreferred = ptr(true)
		}
		action.Edit = t.shareEdit(view.Client, fix)
		return action
	}
	action.Title = fmt.Sprintf("Insert the graph pool snippet in %s:%d", t.name, t.snippetLine)
	if !view.Client.ResolvesEdits {
		action.Edit = t.snippetEdit(view.Client)
		return action
	}
	data, err := json.Marshal(actionData{Log: d.Key})
	if err != nil {
		return nil
	}
	action.Data = data
	return action
}

// resolveCodeAction makes the edit of an action that was offered without one.
func (s *Server) resolveCodeAction(ctx context.Context, view *session.View, p *protocol.CodeAction) (*protocol.CodeAction, error) {
	if p.Edit != nil || len(p.Data) == 0 {
		return p, nil
	}
	var data actionData
	if err := json.Unmarshal(p.Data, &data); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the action is not one of ours")
	}
	d := view.Document(data.Log)
	if d == nil || !d.Watched() {
		return nil, protocol.ErrContentModified
	}
	analysis, err := s.analysis(ctx, d)
	if err != nil {
		return nil, err
	}
	t, ok := findTarget(view, d, analysis.Frames)
	if !ok {
		return nil, errors.New("the Python file that the traceback names is not there any more")
	}
	p.Edit = t.snippetEdit(view.Client)
	return p, nil
}

// target is the place in a source file where the fix belongs.
type target struct {
	source
	scanned *pysource.Source
	// plain is set if edit shares one pool over the captures; else a snippet is
	// all that can be offered, before snippetLine.
	plain       bool
	edit        pysource.Edit
	snippetLine int
}

// findTarget goes through the user's frames, innermost first, and takes the first
// that can be edited, else the first from which a capture can be seen, else the
// first whose file is there.
func findTarget(view *session.View, log *session.Snapshot, frames []incident.Frame) (target, bool) {
	var best target
	found, capturing := false, false
	files := newSources(view, log)
	for _, frame := range frames {
		src, ok := files.find(frame)
		if !ok {
			continue
		}
		t := target{source: src, scanned: pysource.Scan(src.text), snippetLine: src.line}
		edit, err := t.scanned.SharePool(src.line)
		if err == nil {
			t.plain, t.edit, t.snippetLine = true, edit, edit.SiteLine
			return t, true
		}
		var refusal pysource.Refusal
		if errors.As(err, &refusal) && slices.Contains(unfit, refusal.Reason) {
			return target{}, false
		}
		line, sees := captureAbove(t.scanned, src.line)
		if sees {
			t.snippetLine = line
		}
		if !found || sees && !capturing {
			best, found, capturing = t, true, sees
		}
	}
	return best, found
}

// unfit are the reasons for which sharing a pool would do nothing or harm: then
// not even a snippet is offered.
var unfit = []pysource.Reason{
	pysource.ReasonPoolGiven, pysource.ReasonReplayConcurrent, pysource.ReasonGraphDropped,
	pysource.ReasonCallablePerTurn, pysource.ReasonDeviceLoop,
}

// captureAbove is the line of the last capture that starts at or before a line.
func captureAbove(src *pysource.Source, line int) (int, bool) {
	best := 0
	for _, site := range src.Sites {
		if site.Kind.Captures() && site.Line <= line {
			best = max(best, site.Line)
		}
	}
	return best, best > 0
}

// shareEdit is the edit that shares one pool, annotated with what must hold for it
// to be safe.
func (t *target) shareEdit(c session.Client, fix *incident.Fix) *protocol.WorkspaceEdit {
	const id protocol.ChangeAnnotationIdentifier = "graphtrap." + sharePool
	edit := &protocol.WorkspaceEdit{}
	text := position.New(t.text, c.Convention)
	var edits []protocol.TextDocumentEditElement
	for _, change := range t.edit.Changes {
		e := protocol.TextEdit{Range: text.Range(change.Offset, change.EndOffset), NewText: change.NewText}
		if c.ChangeAnnotations {
			edits = append(edits, &protocol.AnnotatedTextEdit{TextEdit: e, AnnotationID: id})
		} else {
			edits = append(edits, &e)
		}
	}
	if c.ChangeAnnotations {
		edit.ChangeAnnotations = map[protocol.ChangeAnnotationIdentifier]protocol.ChangeAnnotation{id: {
			Label: fix.Title, NeedsConfirmation: ptr(false), Description: ptr(fix.Precondition),
		}}
	}
	edit.DocumentChanges = t.changes(edits...)
	return edit
}

// snippetEdit inserts the fix in comments, for the user to put in place.
func (t *target) snippetEdit(c session.Client) *protocol.WorkspaceEdit {
	newline := "\n"
	if at := strings.Index(string(t.text), "\n"); at > 0 && t.text[at-1] == '\r' {
		newline = "\r\n"
	}
	snippet := pysource.NewSnippet(t.scanned.IndentAt(t.snippetLine), t.scanned.TorchCuda(t.snippetLine), newline)
	start, _ := position.New(t.text, position.Convention{}).Bounds(t.snippetLine - 1) // as Python counts
	at := position.New(t.text, c.Convention).Range(start, start)
	edit := &protocol.WorkspaceEdit{}
	switch {
	case c.SnippetEdits:
		edit.DocumentChanges = t.changes(&protocol.SnippetTextEdit{
			Range: at, Snippet: protocol.StringValue{Kind: "snippet", Value: snippet.Placeholders},
		})
	case c.DocumentChanges:
		edit.DocumentChanges = t.changes(&protocol.TextEdit{Range: at, NewText: snippet.Plain})
	default:
		edit.Changes = map[uri.URI][]protocol.TextEdit{t.uri: {{Range: at, NewText: snippet.Plain}}}
	}
	return edit
}

func (t *target) changes(edits ...protocol.TextDocumentEditElement) []protocol.DocumentChange {
	return []protocol.DocumentChange{&protocol.TextDocumentEdit{
		TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: t.uri}, Version: t.version,
		},
		Edits: edits,
	}}
}
