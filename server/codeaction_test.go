package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

const trainPy = `import torch


def capture(model, shapes):
    graphs = []
    for shape in shapes:
        x = torch.zeros(shape, device="cuda")
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            y = model(x)
        graphs.append((g, x, y))
    return graphs
`

// helperPy passes its arguments on, so that nobody can tell whether a pool is among them.
const helperPy = `import torch


def capture(model, shapes, **options):
    for shape in shapes:
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, **options):
            model(shape)
        yield g
`

// workspace is a folder with files, by their names and texts.
func workspace(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// withFrames is the fake analysis of a failure with a traceback.
func withFrames(frames ...incident.Frame) server.Config {
	return server.Config{Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		a, err := fakeAnalysis(ctx, f, o)
		if err == nil {
			a.Frames = frames
		}
		return a, err
	}}
}

const failure = "rank3 COLLATERAL waited\nrank17 INITIATOR\nfine\n"

// actionsAt asks for the code actions of a line.
func actionsAt(c *lsptest.Client, document string, line int, only ...string) []*protocol.CodeAction {
	context := object{"diagnostics": []object{}}
	if only != nil {
		context["only"] = only
	}
	var raw []json.RawMessage
	m := c.Start("textDocument/codeAction", object{
		"textDocument": object{"uri": document}, "range": lsptest.Span(line, 0, line, 0), "context": context,
	}).Response()
	var actions []*protocol.CodeAction
	if json.Unmarshal(m.Result, &raw) != nil {
		return nil
	}
	for _, r := range raw {
		var a protocol.CodeAction
		if protocol.Unmarshal(r, &a) == nil {
			actions = append(actions, &a)
		}
	}
	return actions
}

// fileAction starts a session in a folder, opens its train.log and returns the
// actions on the failing line.
func fileAction(t *testing.T, dir string, c server.Config, change func(object)) (*lsptest.Client, []*protocol.CodeAction) {
	t.Helper()
	client, _ := start(t, c)
	client.Initialize(string(uri.File(dir)), change)
	t.Cleanup(client.Shutdown)
	log := string(uri.File(filepath.Join(dir, "train.log")))
	client.Open(log, "log", 1, failure)
	client.Diagnostics(log, 1)
	return client, actionsAt(client, log, 1)
}

// applied applies the edit of an action to a text.
func applied(t *testing.T, text string, edit *protocol.WorkspaceEdit) string {
	t.Helper()
	if edit == nil || len(edit.DocumentChanges) != 1 {
		t.Fatalf("edit %+v, want one document changed", edit)
	}
	lines := strings.SplitAfter(text, "\n")
	offset := func(p protocol.Position) int { return len(strings.Join(lines[:p.Line], "")) + int(p.Character) } // ASCII only
	edits := edit.DocumentChanges[0].(*protocol.TextDocumentEdit).Edits
	for i := len(edits) - 1; i >= 0; i-- {
		var e protocol.TextEdit
		switch v := edits[i].(type) {
		case *protocol.TextEdit:
			e = *v
		case *protocol.AnnotatedTextEdit:
			e = v.TextEdit
		case *protocol.SnippetTextEdit:
			e = protocol.TextEdit{Range: v.Range, NewText: v.Snippet.Value}
		}
		start, end := offset(e.Range.Start), offset(e.Range.End)
		text = text[:start] + e.NewText + text[end:]
	}
	return text
}

func frame(path string, line int, text string) incident.Frame {
	return incident.Frame{Path: path, Line: line, Function: "capture", Text: text}
}

func TestTheFixEditsTheFileThatTheTracebackNames(t *testing.T) {
	dir := workspace(t, map[string]string{"jobs/train.py": trainPy})
	// The traceback is of another machine, and its innermost frame is in no file here.
	config := withFrames(frame("/app/vendor/wrap.py", 3, "call()"), frame("/app/jobs/train.py", 10, "y = model(x)"))
	c, actions := fileAction(t, dir, config, nil)
	if len(actions) != 2 {
		t.Fatalf("%d actions, want the fix and the check", len(actions))
	}
	fix := actions[0]
	if fix.Title != "Share one graph pool over the captures in train.py:9" || fix.IsPreferred == nil || !*fix.IsPreferred || *fix.Kind != "quickfix" {
		t.Errorf("action %+v", fix)
	}
	change := fix.Edit.DocumentChanges[0].(*protocol.TextDocumentEdit)
	if want := uri.File(filepath.Join(dir, "jobs", "train.py")); change.TextDocument.URI != want || change.TextDocument.Version != nil {
		t.Errorf("edits %s, version %v; want %s without a version", change.TextDocument.URI, change.TextDocument.Version, want)
	}
	for _, e := range change.Edits {
		annotated, ok := e.(*protocol.AnnotatedTextEdit)
		if !ok {
			t.Fatalf("edit %+v has no annotation", e)
		}
		note := fix.Edit.ChangeAnnotations[annotated.AnnotationID]
		if note.Label == "" || *note.NeedsConfirmation || *note.Description != "the graphs are replayed one at a time" {
			t.Errorf("annotation %+v", note)
		}
	}
	edited := applied(t, trainPy, fix.Edit)
	if strings.Count(edited, "graph_pool_handle()") != 1 || !strings.Contains(edited, "with torch.cuda.graph(g, pool=") {
		t.Errorf("edited source:\n%s", edited)
	}
	copying := actions[1]
	if copying.Title != "Copy the check command" || copying.Command.Command != "graphtrap.copyText" ||
		string(copying.Command.Arguments[0]) != `"python verify_pool.py shared"` {
		t.Errorf("action %+v", copying)
	}
	c.Call("workspace/executeCommand", object{"command": copying.Command.Command, "arguments": []string{"python verify_pool.py shared"}}, nil)
	if got := c.Notification("window/showMessage", 1); !strings.Contains(string(got), "python verify_pool.py shared") {
		t.Errorf("shown %s", got)
	}
}

func TestOnWhichLinesThereAreActions(t *testing.T) {
	dir := workspace(t, map[string]string{"train.py": trainPy})
	c, _ := fileAction(t, dir, withFrames(frame("train.py", 9, "")), nil)
	log := string(uri.File(filepath.Join(dir, "train.log")))
	for line, want := range map[int]int{0: 2, 1: 2, 2: 0, 3: 0, 99: 0} {
		if got := actionsAt(c, log, line); len(got) != want {
			t.Errorf("line %d: %d actions, want %d", line, len(got), want)
		}
	}
	if got := actionsAt(c, log, 1, "refactor", "source"); len(got) != 0 {
		t.Errorf("%d actions of kinds that were not asked for", len(got))
	}
	if got := actionsAt(c, log, 1, "quickfix"); len(got) != 2 {
		t.Errorf("%d quick fixes, want 2", len(got))
	}
	if got := actionsAt(c, "file:///not/open.log", 1); len(got) != 0 {
		t.Errorf("%d actions in a document that is not open", len(got))
	}
}

func TestAnOpenDocumentWinsOverTheDisk(t *testing.T) {
	dir := workspace(t, map[string]string{"train.py": "# an old version\n"})
	c, _ := fileAction(t, dir, withFrames(frame("/app/train.py", 9, "with torch.cuda.graph(g):")), nil)
	log := string(uri.File(filepath.Join(dir, "train.log")))
	python := string(uri.File(filepath.Join(dir, "train.py")))
	if got := actionsAt(c, log, 1); len(got) != 1 {
		t.Errorf("%d actions for a file without the line of the traceback, want only the check", len(got))
	}
	c.Open(python, "python", 6, "\n\n"+trainPy) // two lines further down than in the traceback
	actions := actionsAt(c, log, 1)
	if len(actions) != 2 || actions[0].Title != "Share one graph pool over the captures in train.py:11" {
		t.Fatalf("actions %+v", actions)
	}
	change := actions[0].Edit.DocumentChanges[0].(*protocol.TextDocumentEdit)
	if change.TextDocument.Version == nil || *change.TextDocument.Version != 6 || string(change.TextDocument.URI) != python {
		t.Errorf("edits %+v, want version 6", change.TextDocument)
	}
	if len(c.Publications(python)) != 0 {
		t.Error("a Python document was diagnosed")
	}
}

func TestASnippetWhereTheSourceIsNotPlain(t *testing.T) {
	config := withFrames(frame("/app/helper.py", 8, "model(shape)"))
	const title = "Insert the graph pool snippet in helper.py:7"
	resolve := []string{"capabilities", "textDocument", "codeAction", "resolveSupport"}
	snippets := []string{"capabilities", "workspace", "workspaceEdit", "snippetEditSupport"}

	t.Run("on request", func(t *testing.T) {
		c, actions := fileAction(t, workspace(t, map[string]string{"helper.py": helperPy}), config, nil)
		if len(actions) != 2 || actions[0].Title != title || actions[0].Edit != nil || actions[0].IsPreferred != nil {
			t.Fatalf("actions %+v", actions)
		}
		var resolved protocol.CodeAction
		c.Call("codeAction/resolve", object{"title": title, "kind": "quickfix", "data": json.RawMessage(actions[0].Data)}, &resolved)
		edited := applied(t, helperPy, resolved.Edit)
		if !strings.Contains(edited, "${1:pool}") {
			t.Errorf("no placeholder in\n%s", edited)
		}
		c.Fails(jsonrpc2.InvalidParams, "codeAction/resolve", object{"title": "x", "data": "theirs"})
		c.Fails(protocol.CodeContentModified, "codeAction/resolve", object{"title": "x", "data": object{"log": "file:///closed.log"}})
		var same protocol.CodeAction
		c.Call("codeAction/resolve", object{"title": "x"}, &same)
		if same.Title != "x" {
			t.Errorf("an action without data came back as %+v", same)
		}
	})
	t.Run("at once", func(t *testing.T) {
		_, actions := fileAction(t, workspace(t, map[string]string{"helper.py": strings.ReplaceAll(helperPy, "\n", "\r\n")}), config, func(p object) {
			lsptest.Set(p, nil, resolve...)
			lsptest.Set(p, nil, snippets...)
		})
		if len(actions) != 2 || actions[0].Title != title {
			t.Fatalf("actions %+v", actions)
		}
		edit := actions[0].Edit.DocumentChanges[0].(*protocol.TextDocumentEdit).Edits[0].(*protocol.TextEdit)
		if edit.Range.Start != (protocol.Position{Line: 6}) || edit.Range.End != edit.Range.Start {
			t.Errorf("inserted at %+v, want the line of the capture", edit.Range)
		}
		for _, line := range strings.SplitAfter(strings.TrimSuffix(edit.NewText, "\r\n"), "\r\n") {
			if !strings.HasPrefix(line, "        #") {
				t.Errorf("%q is no comment in the place of the capture", line)
			}
		}
	})
	t.Run("without versioned edits", func(t *testing.T) {
		dir := workspace(t, map[string]string{"helper.py": trainPy})
		_, actions := fileAction(t, dir, withFrames(frame("/app/helper.py", 9, "")), func(p object) {
			lsptest.Set(p, nil, resolve...)
			lsptest.Set(p, object{}, "capabilities", "workspace", "workspaceEdit")
		})
		if len(actions) != 2 || !strings.HasPrefix(actions[0].Title, "Insert the graph pool snippet") {
			t.Fatalf("actions %+v", actions)
		}
		if edits := actions[0].Edit.Changes[uri.File(filepath.Join(dir, "helper.py"))]; len(edits) != 1 || actions[0].Edit.DocumentChanges != nil {
			t.Errorf("edit %+v", actions[0].Edit)
		}
	})
}

func TestNoEditWhereSharingWouldNotHelp(t *testing.T) {
	given := strings.Replace(trainPy, "torch.cuda.graph(g)", "torch.cuda.graph(g, pool=pool)", 1)
	_, actions := fileAction(t, workspace(t, map[string]string{"train.py": given}), withFrames(frame("/app/train.py", 10, "")), nil)
	if len(actions) != 1 {
		t.Errorf("%d actions for a capture that has a pool, want only the check", len(actions))
	}
}

func TestAClientWithoutCodeActionLiterals(t *testing.T) {
	dir := workspace(t, map[string]string{"train.py": trainPy})
	c, _ := fileAction(t, dir, withFrames(frame("/app/train.py", 9, "")), func(p object) {
		lsptest.Set(p, object{}, "capabilities", "textDocument", "codeAction")
	})
	var commands []protocol.Command
	c.Call("textDocument/codeAction", object{
		"textDocument": object{"uri": string(uri.File(filepath.Join(dir, "train.log")))},
		"range":        lsptest.Span(1, 0, 1, 0), "context": object{"diagnostics": []object{}},
	}, &commands)
	if len(commands) != 1 || commands[0].Command != "graphtrap.copyText" {
		t.Errorf("commands %+v, want the check only", commands)
	}
}

func TestFilesOutsideTheWorkspaceAreNotEdited(t *testing.T) {
	outside := workspace(t, map[string]string{"train.py": trainPy, "shared/train.py": trainPy})
	check := func(name string, dir string, frames ...incident.Frame) {
		t.Run(name, func(t *testing.T) {
			if _, actions := fileAction(t, dir, withFrames(frames...), nil); len(actions) != 1 {
				t.Errorf("%d actions, want only the check: %+v", len(actions), actions[0])
			}
		})
	}
	check("by its path", workspace(t, nil), frame(filepath.Join(outside, "train.py"), 9, ""))
	check("by dots", workspace(t, nil), frame("../"+filepath.Base(outside)+"/train.py", 9, ""))
	check("of another name", workspace(t, map[string]string{"train.py": trainPy}), frame("/app/other.py", 9, ""))
	check("not Python", workspace(t, map[string]string{"train.sh": trainPy}), frame("/app/train.sh", 9, ""))
	check("a folder", workspace(t, map[string]string{"train.py/x": ""}), frame("/app/train.py", 9, ""))
	check("no line", workspace(t, map[string]string{"train.py": trainPy}), frame("/app/train.py", 999, ""))
	check("another text", workspace(t, map[string]string{"train.py": trainPy}), frame("/app/train.py", 9, "with capture(g):"))
	check("a text that stands twice", workspace(t, map[string]string{"train.py": trainPy + trainPy}), frame("/app/train.py", 99, "with torch.cuda.graph(g):"))
	if runtime.GOOS != "windows" {
		link := workspace(t, nil)
		if err := os.Symlink(filepath.Join(outside, "shared"), filepath.Join(link, "shared")); err != nil {
			t.Fatal(err)
		}
		check("by a link", link, frame("/app/shared/train.py", 9, ""))
	}
}

func TestWhereTheFileIsLookedFor(t *testing.T) {
	dir := workspace(t, map[string]string{"a/b/train.py": trainPy, "train.py": "# another file of that name\n", "logs/train.log": failure})
	found := func(frames ...incident.Frame) (string, []*protocol.CodeAction) {
		_, actions := fileAction(t, dir, withFrames(frames...), nil)
		if len(actions) < 2 {
			return "", actions
		}
		return string(actions[0].Edit.DocumentChanges[0].(*protocol.TextDocumentEdit).TextDocument.URI), actions
	}
	want := string(uri.File(filepath.Join(dir, "a", "b", "train.py")))
	for _, f := range []incident.Frame{
		frame(filepath.Join(dir, "a", "b", "train.py"), 9, "with torch.cuda.graph(g):"),
		frame("/home/someone/src/a/b/train.py", 9, "with torch.cuda.graph(g):"),
		frame(`C:\src\a\b\train.py`, 9, "with torch.cuda.graph(g):"),
		frame("a/b/train.py", 9, "with torch.cuda.graph(g):"),
	} {
		if got, _ := found(f); got != want {
			t.Errorf("%s was found as %q, want %q", f.Path, got, want)
		}
	}

	// Beside the log, in a folder of the workspace that is not its root.
	beside := workspace(t, map[string]string{"runs/7/train.py": trainPy})
	c, _ := start(t, withFrames(frame("/app/train.py", 9, "with torch.cuda.graph(g):")))
	c.Initialize(string(uri.File(beside)), nil)
	t.Cleanup(c.Shutdown)
	log := string(uri.File(filepath.Join(beside, "runs", "7", "train.log")))
	c.Open(log, "log", 1, failure)
	if got := actionsAt(c, log, 1); len(got) != 2 {
		t.Errorf("%d actions for a source beside the log, want 2", len(got))
	}

	// A folder that joins later.
	late := workspace(t, map[string]string{"train.py": trainPy})
	c, actions := fileAction(t, workspace(t, nil), withFrames(frame("/app/train.py", 9, "with torch.cuda.graph(g):")), nil)
	if len(actions) != 1 {
		t.Fatalf("%d actions before the folder is there", len(actions))
	}
	c.Open("file:///x.log", "log", 1, failure)
	folder := object{"uri": string(uri.File(late)), "name": "late"}
	c.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{"added": []object{folder}, "removed": []object{}}})
	if got := actionsAt(c, "file:///x.log", 1); len(got) != 2 {
		t.Errorf("%d actions with the folder, want 2", len(got))
	}
	c.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{"added": []object{}, "removed": []object{folder}}})
	if got := actionsAt(c, "file:///x.log", 1); len(got) != 1 {
		t.Errorf("%d actions without the folder, want 1", len(got))
	}
}

func TestOurDiagnosticsComeBackWithTheAction(t *testing.T) {
	dir := workspace(t, map[string]string{"train.py": trainPy})
	c, _ := fileAction(t, dir, withFrames(frame("/app/train.py", 9, "")), nil)
	log := string(uri.File(filepath.Join(dir, "train.log")))
	m := c.Start("textDocument/codeAction", object{
		"textDocument": object{"uri": log}, "range": lsptest.Span(1, 0, 1, 0),
		"context": object{"diagnostics": []object{
			{"range": lsptest.Span(1, 0, 1, 5), "message": "ours", "source": "graphtrap"},
			{"range": lsptest.Span(1, 0, 1, 5), "message": "theirs", "source": "spelling"},
		}},
	}).Response()
	if !bytes.Contains(m.Result, []byte("ours")) || bytes.Contains(m.Result, []byte("theirs")) {
		t.Errorf("result %s", m.Result)
	}
}
