package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
	"github.com/graphtrap/graphtrap/signatures"
)

// navigation are the requests that lead through a log, with their params besides
// the document.
var navigation = map[string]object{
	"textDocument/codeLens":          {},
	"textDocument/definition":        {"position": object{"line": 1, "character": 3}},
	"textDocument/references":        {"position": object{"line": 1, "character": 3}, "context": object{"includeDeclaration": true}},
	"textDocument/documentHighlight": {"position": object{"line": 1, "character": 3}},
	"textDocument/documentLink":      {},
	"textDocument/documentSymbol":    {},
	"textDocument/foldingRange":      {},
}

// about are the params of a request about a document.
func about(uri string, params object) object {
	all := object{"textDocument": object{"uri": uri}}
	for key, value := range params {
		all[key] = value
	}
	return all
}

// at are the params of a request about a place of a document.
func at(uri string, line, character int) object {
	return about(uri, object{"position": object{"line": line, "character": character}})
}

// genuine has the analysis that users get.
var genuine = server.Config{Analyze: func(ctx context.Context, files []analyzer.File, _ analyzer.Options) (*analyzer.Analysis, error) {
	a, err := loaded()
	if err != nil {
		return nil, err
	}
	return a.Diagnose(ctx, files)
}}

var loaded = sync.OnceValues(func() (*analyzer.Analyzer, error) {
	set, err := signatures.Builtin()
	if err != nil {
		return nil, err
	}
	return analyzer.New(set, analyzer.Options{}), nil
})

func TestNavigationIsOffered(t *testing.T) {
	c, _ := start(t, server.Config{})
	got := c.Initialize("", func(p object) {
		lsptest.Set(p, true, "capabilities", "textDocument", "documentSymbol", "labelSupport")
	}).Capabilities
	t.Cleanup(c.Shutdown)
	for name, offered := range map[string]bool{
		"codeLens": got.CodeLensProvider != nil && got.CodeLensProvider.ResolveProvider == nil, "definition": got.DefinitionProvider != nil,
		"references": got.ReferencesProvider != nil, "highlight": got.DocumentHighlightProvider != nil,
		"link":    got.DocumentLinkProvider != nil && got.DocumentLinkProvider.ResolveProvider == nil,
		"folding": got.FoldingRangeProvider != nil, "workspace symbol": got.WorkspaceSymbolProvider != nil,
	} {
		if !offered {
			t.Errorf("%s is not offered", name)
		}
	}
	if o, ok := got.DocumentSymbolProvider.(*protocol.DocumentSymbolOptions); !ok || o.Label == nil || *o.Label != "graphtrap" {
		t.Errorf("symbols are offered as %+v, want a label", got.DocumentSymbolProvider)
	}
	for _, name := range []string{"graphtrap.openReport", "graphtrap.fix"} {
		if !strings.Contains(strings.Join(got.ExecuteCommandProvider.Commands, " "), name) {
			t.Errorf("the command %s is not offered", name)
		}
	}
}

// TestNavigationLeavesOtherDocumentsAlone: those that are no log, are not open, or
// have nothing where the cursor is said to be.
func TestNavigationLeavesOtherDocumentsAlone(t *testing.T) {
	c := session(t, genuine)
	c.Open("file:///a/notes.txt", "plaintext", 1, "[rank0]: Traceback (most recent call last):\n[rank1]: x\n")
	c.Open(logURI, "log", 1, "one\ntwo\n")
	c.Diagnostics(logURI, 1)
	for method, params := range navigation {
		for _, document := range []string{"file:///a/notes.txt", "file:///not/open.log", logURI} {
			m := c.Start(method, about(document, params)).Response()
			if got := string(m.Result); m.Error != nil || got != "[]" && got != "null" {
				t.Errorf("%s of %s: %s, %v", method, document, got, m.Error)
			}
		}
		if params["position"] == nil {
			continue
		}
		for _, place := range []object{{"line": 99, "character": 0}, {"line": 4294967295, "character": 4294967295}, {"line": 0, "character": 4294967295}} {
			hostile := about(logURI, params)
			hostile["position"] = place
			if m := c.Start(method, hostile).Response(); m.Error != nil {
				t.Errorf("%s at %v: %v", method, place, m.Error)
			}
		}
	}
}

// TestNavigationOfATextThatTurnsOutToBeALog is answered although it was not known when
// the request came: editors do not ask twice.
func TestNavigationOfATextThatTurnsOutToBeALog(t *testing.T) {
	log, err := os.ReadFile("../testdata/cases/sglang-victim-prints-first/log.txt")
	if err != nil {
		t.Fatal(err)
	}
	const document = "file:///a/pasted.txt"
	for method, params := range navigation {
		c := session(t, genuine)
		c.Open(document, "plaintext", 1, string(log))
		if params["position"] != nil {
			params = about(document, params)
			params["position"] = object{"line": 10, "character": 3}
		}
		m := c.Start(method, about(document, params)).Response()
		if got := string(m.Result); m.Error != nil || got == "null" || got == "[]" && method != "textDocument/documentLink" {
			t.Errorf("%s: %s, %v", method, got, m.Error)
		}
		c.Close(document)
	}
}

// TestNavigationCanBeCancelled while the analysis runs.
func TestNavigationCanBeCancelled(t *testing.T) {
	c := session(t, server.Config{Analyze: func(ctx context.Context, _ []analyzer.File, _ analyzer.Options) (*analyzer.Analysis, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	c.Open(logURI, "log", 1, "x\n")
	waiting := map[string]lsptest.Pending{"workspace/symbol": c.Start("workspace/symbol", object{"query": ""})}
	for method, params := range navigation {
		waiting[method] = c.Start(method, about(logURI, params))
	}
	for method, p := range waiting {
		p.Cancel()
		if m := p.Response(); m.Error == nil || m.Error.Code != protocol.CodeRequestCancelled {
			t.Errorf("%s: %s, %v", method, m.Result, m.Error)
		}
	}
}

// TestRangesOfNavigation in each encoding, on lines with colours, emoji and CJK
// text, one of which a client may take for two.
func TestRangesOfNavigation(t *testing.T) {
	dir := workspace(t, map[string]string{"日本/train.py": "# 🙂\n    y = 模型(x)  # 🙂\n"})
	log := strings.Join([]string{
		"日本 🙂 start",
		"\x1b[31m[rank0]: 🙂\x1b[0m step 1\r\x1b[31m[rank0]: 🙂\x1b[0m step 2",
		"[rank1]: 日本 Traceback (most recent call last):",
		"[rank1]:   File \"/app/日本/train.py\", line 2, in 🙂",
		"[rank1]:     y = 模型(x)  # 🙂",
		"[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.02 GiB is free.",
		"",
	}, "\n")
	for _, tt := range []struct {
		encoding, client string
		// of the frame's place, of the line that it leads to, and of the highlighted
		// line of rank 0
		link, target, light [4]uint32
	}{
		{"utf-8", "lsptest", [4]uint32{4, 11, 4, 46}, [4]uint32{1, 4, 1, 25}, [4]uint32{2, 0, 2, 29}},
		{"utf-16", "lsptest", [4]uint32{4, 11, 4, 42}, [4]uint32{1, 4, 1, 19}, [4]uint32{2, 0, 2, 27}},
		{"utf-32", "lsptest", [4]uint32{4, 11, 4, 42}, [4]uint32{1, 4, 1, 18}, [4]uint32{2, 0, 2, 26}},
		{"utf-8", "Neovim", [4]uint32{3, 11, 3, 46}, [4]uint32{1, 4, 1, 25}, [4]uint32{1, 0, 1, 59}},
	} {
		t.Run(tt.encoding+" "+tt.client, func(t *testing.T) {
			c, _ := start(t, genuine)
			c.Initialize(string(uri.File(dir)), func(p object) {
				lsptest.Set(p, []string{tt.encoding}, "capabilities", "general", "positionEncodings")
				lsptest.Set(p, object{"name": tt.client}, "clientInfo")
			})
			t.Cleanup(c.Shutdown)
			c.Open(logURI, "log", 1, log)
			c.Diagnostics(logURI, 1)
			var links []protocol.DocumentLink
			c.Call("textDocument/documentLink", about(logURI, nil), &links)
			if len(links) != 1 || span4(links[0].Range) != tt.link || !strings.HasSuffix(string(*links[0].Target), "train.py#L2") {
				t.Fatalf("links %+v, want one at %v", links, tt.link)
			}
			var to protocol.Location
			c.Call("textDocument/definition", at(logURI, int(tt.link[0])+1, 15), &to)
			if span4(to.Range) != tt.target {
				t.Errorf("definition at %v, want %v", span4(to.Range), tt.target)
			}
			var lights []protocol.DocumentHighlight
			c.Call("textDocument/documentHighlight", at(logURI, int(tt.light[0]), 3), &lights)
			if n := len(lights); n == 0 || span4(lights[n-1].Range) != tt.light {
				t.Errorf("highlights %+v, the last at %v", lights, tt.light)
			}
		})
	}
}

func span4(r protocol.Range) [4]uint32 {
	return [4]uint32{r.Start.Line, r.Start.Character, r.End.Line, r.End.Character}
}

// TestNavigationGoesBackToTheClientsOwnURI, however it spells it.
func TestNavigationGoesBackToTheClientsOwnURI(t *testing.T) {
	const spelled = "oil:///tmp/a+b/train.log"
	c := session(t, server.Config{})
	c.Open(spelled, "log", 1, "rank3 COLLATERAL waited\nrank17 INITIATOR oom\n")
	c.Diagnostics(spelled, 1)
	for method, params := range map[string]object{
		"textDocument/definition": at(spelled, 0, 0), "textDocument/codeLens": about(spelled, nil),
		"textDocument/documentSymbol": about(spelled, nil), "workspace/symbol": {"query": "rank"},
		"textDocument/references": about(spelled, object{"position": object{"line": 0, "character": 0}, "context": object{"includeDeclaration": false}}),
	} {
		m := c.Start(method, params).Response()
		if m.Error != nil || !bytes.Contains(m.Result, []byte(`"`+spelled+`"`)) {
			t.Errorf("%s: %s, %v", method, m.Result, m.Error)
		}
	}
}

func TestLensTitles(t *testing.T) {
	tests := []struct {
		name, text, want string
		lines            []uint32
	}{
		{"confirmed", "x\nrank17 INITIATOR oom\nrank3 COLLATERAL waited\n", "rank 17 started it; 1 collateral", []uint32{1}},
		{"without a rank", "INITIATOR oom\n", "CUDA graph capture ran out of memory", []uint32{0}},
		{"only a block", "one\nrank2 BLOCK of lines\nrank3 noise\nlast", "rank 2 started it", []uint32{1}},
		{"undetermined", "UNDETERMINED\nrank0 COLLATERAL waited\nrank1 EVIDENCE silent\n", "undetermined: rank 7 printed nothing; 1 collateral", []uint32{2}},
		{"no failure", "all is well\n", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := session(t, server.Config{})
			c.Open(logURI, "log", 1, tt.text)
			c.Diagnostics(logURI, 1)
			var lenses []protocol.CodeLens
			c.Call("textDocument/codeLens", about(logURI, nil), &lenses)
			var lines []uint32
			for _, l := range lenses {
				if l.Range.Start.Line != l.Range.End.Line || l.Command.Title == "" || l.Command.Command == "" {
					t.Errorf("lens %+v", l)
				}
				if l.Command.Command == "graphtrap.openReport" {
					lines = append(lines, l.Range.Start.Line)
					if l.Command.Title != tt.want {
						t.Errorf("title %q, want %q", l.Command.Title, tt.want)
					}
				}
			}
			if fmt.Sprint(lines) != fmt.Sprint(tt.lines) {
				t.Errorf("lenses above lines %v, want %v", lines, tt.lines)
			}
		})
	}
}

// TestAFixThatTheEditorDoesNotMake is told, and so is one that there is not.
func TestAFixThatTheEditorDoesNotMake(t *testing.T) {
	run := func(t *testing.T, config server.Config, answer any) string {
		t.Helper()
		dir := workspace(t, map[string]string{"train.py": trainPy})
		c, _ := start(t, config)
		c.Answer("workspace/applyEdit", func(json.RawMessage) any { return answer })
		c.Initialize(string(uri.File(dir)), func(p object) { lsptest.Set(p, true, "capabilities", "workspace", "applyEdit") })
		t.Cleanup(c.Shutdown)
		log := string(uri.File(filepath.Join(dir, "train.log")))
		c.Open(log, "log", 1, failure)
		c.Diagnostics(log, 1)
		m := c.Start("workspace/executeCommand", object{"command": "graphtrap.fix", "arguments": []object{{"uri": log}}}).Response()
		c.Count("workspace/applyEdit")
		if m.Error != nil {
			return m.Error.Message
		}
		return string(m.Result)
	}
	here := withFrames(frame("/app/train.py", 9, "with torch.cuda.graph(g):"))
	if got := run(t, here, object{"applied": false, "failureReason": "read-only"}); !strings.Contains(got, `"failureReason":"read-only"`) {
		t.Errorf("result %s", got)
	}
	if got := run(t, here, jsonrpc2.NewError(-32803, "busy")); !strings.Contains(got, "did not make the edit") {
		t.Errorf("result %s", got)
	}
	if got := run(t, here, nil); got != "null" && !strings.Contains(got, "applied") {
		t.Errorf("result %s", got)
	}
	if got := run(t, withFrames(frame("/app/other.py", 9, "")), nil); !strings.Contains(got, "nothing to edit") {
		t.Errorf("result %s", got)
	}
	snippet := withFrames(frame("/app/train.py", 1, "import torch"))
	if got := run(t, snippet, object{"applied": true}); !strings.Contains(got, `"applied":true`) {
		t.Errorf("result %s", got)
	}
}

// TestHighlightsAreBounded to the lines around the cursor, and the one that started it.
func TestHighlightsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&text, "[rank%d]: step %d\n", i%2, i)
		if i == 20 {
			text.WriteString("[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.02 GiB is free.\n")
		}
	}
	c := session(t, genuine)
	c.Open(logURI, "log", 1, text.String())
	c.Diagnostics(logURI, 1)
	var lights []protocol.DocumentHighlight
	c.Call("textDocument/documentHighlight", at(logURI, 4002, 5), &lights)
	written := 0
	for i, h := range lights {
		line := h.Range.Start.Line
		if i > 0 && line <= lights[i-1].Range.Start.Line {
			t.Fatalf("line %d behind line %d", line, lights[i-1].Range.Start.Line)
		}
		switch {
		case h.Kind == protocol.DocumentHighlightKindWrite && line == 21:
			written++
		case h.Kind != protocol.DocumentHighlightKindText || line < 2000 || line%2 != 0:
			t.Fatalf("highlight %+v", h)
		}
	}
	if len(lights) != 2001 || written != 1 || lights[len(lights)-1].Range.Start.Line != 6000 {
		t.Errorf("%d highlights, %d of them written, the last on line %d", len(lights), written, lights[len(lights)-1].Range.Start.Line)
	}
}

func TestOneProcessIsNotHighlighted(t *testing.T) {
	c := session(t, genuine)
	c.Open(logURI, "log", 1, "[rank0]: a\n[rank0]: b\nx\n")
	c.Diagnostics(logURI, 1)
	var lights []protocol.DocumentHighlight
	if c.Call("textDocument/documentHighlight", at(logURI, 0, 0), &lights); len(lights) != 0 {
		t.Errorf("%d highlights", len(lights))
	}
}

// wordy is a failure with many messages of all roles.
func wordy(n int) server.Config {
	return server.Config{Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		a, err := fakeAnalysis(ctx, f, o)
		if err != nil {
			return nil, err
		}
		roles := []incident.Role{incident.RoleContext, incident.RoleCollateral, incident.RoleAdvice}
		for i := range n {
			rank := i % 3
			at := a.Report.Verdict.Initiator.StatedAt
			e := incident.Event{Message: fmt.Sprintf("message-%d", i), Role: roles[i%len(roles)], Rank: &rank, Location: *at}
			e.Location.Offset += int64(i % 10) // several on one line, as some logs have them
			a.Report.Events = append(a.Report.Events, e)
		}
		return a, nil
	}}
}

func TestSymbolsAreBounded(t *testing.T) {
	c, _ := start(t, wordy(5000))
	c.Initialize("", func(p object) {
		lsptest.Set(p, true, "capabilities", "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport")
	})
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, "rank17 INITIATOR oom\n")
	c.Diagnostics(logURI, 1)
	var tree []protocol.DocumentSymbol
	c.Call("textDocument/documentSymbol", about(logURI, nil), &tree)
	if len(tree) != 1 || tree[0].Detail == nil || *tree[0].Detail != "2334 messages more are left out" {
		t.Fatalf("symbols %+v", tree)
	}
	for _, rank := range tree[0].Children {
		if rank.Name != "rank 1" { // the ranks with context lost to those with collateral
			t.Errorf("symbol %+v", rank.Name)
		}
		if len(rank.Children) > 1000 {
			t.Errorf("%d messages", len(rank.Children))
		}
	}
}

// TestSymbolsLieWithinTheirParents in all logs that we have.
func TestSymbolsLieWithinTheirParents(t *testing.T) {
	c, _ := start(t, genuine)
	c.Initialize("", func(p object) {
		lsptest.Set(p, true, "capabilities", "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport")
	})
	t.Cleanup(c.Shutdown)
	logs, err := filepath.Glob("../testdata/cases/*/log.txt")
	if err != nil || len(logs) == 0 {
		t.Fatal("no logs", err)
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		document := "test:/" + filepath.Base(filepath.Dir(path)) + ".log"
		c.Open(document, "log", 1, string(text))
		var tree []protocol.DocumentSymbol
		c.Call("textDocument/documentSymbol", about(document, nil), &tree)
		var check func(s protocol.DocumentSymbol, within protocol.Range)
		check = func(s protocol.DocumentSymbol, within protocol.Range) {
			if !contains(within, s.Range) || !contains(s.Range, s.SelectionRange) || strings.TrimSpace(s.Name) == "" {
				t.Errorf("%s: symbol %q at %v, selected %v, in %v", path, s.Name, s.Range, s.SelectionRange, within)
			}
			for _, child := range s.Children {
				check(child, s.Range)
			}
		}
		for _, s := range tree {
			check(s, protocol.Range{End: protocol.Position{Line: 1 << 30}})
		}
		var folds []protocol.FoldingRange
		c.Call("textDocument/foldingRange", about(document, nil), &folds)
		lines := uint32(bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 1)
		for i, f := range folds {
			if f.EndLine <= f.StartLine || f.EndLine >= lines || f.StartCharacter != nil || f.EndCharacter != nil || i > 0 && f.StartLine < folds[i-1].StartLine {
				t.Errorf("%s: fold %+v", path, f)
			}
		}
		c.Close(document)
		c.Cleared(document)
	}
}

func contains(outer, inner protocol.Range) bool {
	before := func(a, b protocol.Position) bool {
		return a.Line < b.Line || a.Line == b.Line && a.Character <= b.Character
	}
	return before(outer.Start, inner.Start) && before(inner.End, outer.End)
}

// TestReferencesAreBounded and come in pieces where the client wants them so.
func TestReferencesAreBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("rank0 INITIATOR\n")
	for i := range 5000 {
		fmt.Fprintf(&text, "rank%d COLLATERAL waited\n", i+1)
	}
	c := session(t, server.Config{})
	c.Open(logURI, "log", 1, text.String())
	c.Diagnostics(logURI, 1)
	params := about(logURI, object{"position": object{"line": 0, "character": 0}, "context": object{"includeDeclaration": false}})
	var whole []protocol.Location
	if c.Call("textDocument/references", params, &whole); len(whole) != 2000 {
		t.Errorf("%d references", len(whole))
	}
	params["partialResultToken"] = "pieces"
	var rest, all []protocol.Location
	c.Call("textDocument/references", params, &rest)
	for n := 1; n <= c.Count("$/progress"); n++ {
		var p struct{ Value []protocol.Location }
		if err := json.Unmarshal(c.Notification("$/progress", n), &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p.Value...)
	}
	if len(rest) != 0 || len(all) != 2000 {
		t.Errorf("%d references in the response, %d in pieces", len(rest), len(all))
	}
}

func TestWhichFilesFramesLeadTo(t *testing.T) {
	outside := workspace(t, map[string]string{"lib/train.py": trainPy})
	tests := []struct {
		name, path, quoted string
		line               int
		mapping            []object
		want               string // behind the workspace folder's path, or whole
		wantLine           int
	}{
		{"as far as the path fits", "/app/src/train.py", "y = model(x)", 10, nil, "/src/train.py", 10},
		{"where the line stands now", "/app/src/train.py", "y = model(x)", 3, nil, "/src/train.py", 10},
		{"not another file of the name", "/app/src/train.py", "z = model(x)", 10, nil, "", 0},
		{"not a missing file", "/app/src/test.py", "y = model(x)", 10, nil, "", 0},
		{"where it was, though it has changed", "WORK/src/train.py", "z = model(x)", 9999, nil, "/src/train.py", 13},
		{"by a mapping", "/elsewhere/t/train.py", "y = model(x)", 10, []object{{"from": "/elsewhere/t", "to": "src"}}, "/src/train.py", 10},
		{"by a mapping, though it has changed", "/elsewhere/t/train.py", "z = model(x)", 4, []object{{"from": "/elsewhere/t", "to": "src"}}, "/src/train.py", 4},
		{"by a mapping out of the workspace", "/elsewhere/lib/train.py", "y = model(x)", 10, []object{{"from": "/elsewhere", "to": outside}}, outside + "/lib/train.py", 10},
		{"not out of the workspace", outside + "/lib/train.py", "y = model(x)", 10, nil, "/train.py", 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := workspace(t, map[string]string{"src/train.py": trainPy})
			if tt.name == "not out of the workspace" {
				tt.want = ""
			}
			c, _ := start(t, genuine)
			c.Initialize(string(uri.File(dir)), func(p object) {
				if tt.mapping != nil {
					p["initializationOptions"] = object{"pathMappings": tt.mapping}
				}
			})
			t.Cleanup(c.Shutdown)
			path := strings.Replace(tt.path, "WORK", dir, 1)
			c.Open(logURI, "log", 1, fmt.Sprintf("[rank1]: Traceback (most recent call last):\n[rank1]:   File %q, line %d, in f\n[rank1]:     %s\n[rank1]: KeyError: 1\n", path, tt.line, tt.quoted))
			c.Diagnostics(logURI, 1)
			var to *protocol.Location
			c.Call("textDocument/definition", at(logURI, 1, 20), &to)
			switch {
			case tt.want == "" && to != nil:
				t.Errorf("leads to %+v", to)
			case tt.want == "":
			case to == nil:
				t.Error("leads nowhere")
			default:
				want := tt.want
				if !strings.HasPrefix(want, outside) {
					want = dir + want
				}
				if got := to.URI.FsPath(); got != filepath.FromSlash(want) || int(to.Range.Start.Line) != tt.wantLine-1 {
					t.Errorf("leads to %s, line %d; want %s, line %d", got, to.Range.Start.Line+1, want, tt.wantLine)
				}
			}
		})
	}
}

// TestNavigationOfALogThatGrows is that of the log as it is now, a bar on its last
// line included.
func TestNavigationOfALogThatGrows(t *testing.T) {
	c := session(t, genuine)
	text := "[rank1]: start\n"
	c.Open(logURI, "log", 1, text)
	version := 1
	for _, more := range []string{
		"[rank0]: step 1\n[rank0]: step 2\n", "[rank0]: step 3\n[rank0]: st", "ep 4\n", "Capturing:  0%|  | 0/9\r", "Capturing: 10%|  | 1/9\rCapturing: 20%|  | 2/9\rCapturing: 30%|  | 3/9",
		"\n[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/a.py\", line 1, in f\n", "[rank0]:     f()\n[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB.\n",
	} {
		end := strings.Count(text, "\n")
		version++
		at := object{"line": 99999, "character": 0}
		c.Change(logURI, version, object{"range": object{"start": at, "end": at}, "text": more})
		text += more
		var folds, whole []protocol.FoldingRange
		c.Call("textDocument/foldingRange", about(logURI, nil), &folds)
		fresh := fmt.Sprintf("test:/whole-%d.log", version)
		c.Open(fresh, "log", 1, text)
		c.Call("textDocument/foldingRange", about(fresh, nil), &whole)
		if diff := cmp.Diff(whole, folds); diff != "" {
			t.Errorf("behind line %d (-whole +grown):\n%s", end, diff)
		}
	}
	var folds []protocol.FoldingRange
	if c.Call("textDocument/foldingRange", about(logURI, nil), &folds); len(folds) != 4 {
		t.Errorf("folds %+v, want the steps, the bar, the traceback and the rank's block", folds)
	}
}

// BenchmarkNavigation of a 40 MB log: each request on a version that is analysed,
// and the first one of a version, which reads what the lines are.
func BenchmarkNavigation(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 40<<20; i++ {
		fmt.Fprintf(&text, "[rank%d]: 2026-11-30 01:02:03,456 INFO iteration %d/100000 loss 6.%d lr 1.0e-05 memory (GB) 41.2 of 79.1\n", i%64, i, i%100)
	}
	text.WriteString("[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/app/train.py\", line 10, in f\n[rank1]:     y = model(x)\n" +
		"[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.02 GiB is free.\n")
	c, _ := lsptest.Run(b, func(in io.Reader, out io.Writer) int {
		return server.New(server.Config{}).Serve(context.Background(), in, out)
	})
	c.Initialize("", nil)
	b.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, text.String())
	c.Diagnostics(logURI, 1)
	begun := time.Now()
	c.Call("textDocument/foldingRange", about(logURI, nil), nil)
	b.Logf("the first request of a version: %v", time.Since(begun))
	b.Run("folding of a line more", func(b *testing.B) {
		place := object{"line": 1 << 30, "character": 0}
		version := 1
		for b.Loop() {
			b.StopTimer()
			version++
			c.Change(logURI, version, object{"range": object{"start": place, "end": place}, "text": "[rank3]: one line more\n"})
			c.Diagnostics(logURI, int32(version))
			b.StartTimer()
			c.Call("textDocument/foldingRange", about(logURI, nil), nil)
		}
	})
	for method, params := range navigation {
		b.Run(strings.TrimPrefix(method, "textDocument/"), func(b *testing.B) {
			for b.Loop() {
				c.Call(method, about(logURI, params), nil)
			}
		})
	}
}
