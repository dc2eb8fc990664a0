package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// feature is a row of the README's table of what the language server can do.
type feature struct {
	// capability is what the answer to initialize has for it: a path in the server's
	// capabilities, or a command. It is empty for what is done unasked.
	capability string
	// methods are the client's messages that use it; a command names itself.
	methods []string
	shows   string
	// needs is the client's capability without which the server does not announce it.
	needs string
}

// features are told in this order: first what is seen on the lines, then what leads
// elsewhere, then commands.
var features = []feature{
	{capability: "textDocumentSync", methods: []string{"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"}, shows: "follows a log while it grows"},
	{methods: []string{"textDocument/publishDiagnostics"}, shows: "the initiating line as an error with the collateral lines attached; those as faded hints. The code is the failure's id"},
	{capability: "diagnosticProvider", methods: []string{"textDocument/diagnostic", "workspace/diagnostic"}, shows: "the same for an editor that asks, which then is sent none", needs: "textDocument.diagnostic"},
	{capability: "hoverProvider", methods: []string{"textDocument/hover"}, shows: "on a marked line the verdict, its numbers, evidence, the fix, the check; on any other known line what it says, who printed it and when"},
	{capability: "codeActionProvider", methods: []string{"textDocument/codeAction", "codeAction/resolve"}, shows: "on a marked line: share one graph pool in the Python file that the traceback names, or insert the fix there; copy the check command"},
	{capability: "codeLensProvider", methods: []string{"textDocument/codeLens"}, shows: "above the failure: who started it, how many fell with it, the fix, the check"},
	{capability: "inlayHintProvider", methods: []string{"textDocument/inlayHint"}, shows: "the time since the failure, and the rank where the line does not say it", needs: "textDocument.inlayHint"},
	{capability: "semanticTokensProvider", methods: []string{"textDocument/semanticTokens/full", "textDocument/semanticTokens/range"}, shows: "ranks, times, the initiating line, collateral and noise in colours, if the setting `semanticTokens` is on", needs: "textDocument.semanticTokens"},
	{capability: "foldingRangeProvider", methods: []string{"textDocument/foldingRange"}, shows: "tracebacks, blocks of one rank, what repeats, progress bars"},
	{capability: "documentHighlightProvider", methods: []string{"textDocument/documentHighlight"}, shows: "all lines of the rank under the cursor"},
	{capability: "documentSymbolProvider", methods: []string{"textDocument/documentSymbol"}, shows: "the incident, in it the ranks, in them what they said"},
	{capability: "workspaceSymbolProvider", methods: []string{"workspace/symbol"}, shows: "the incidents and ranks of all open logs"},
	{capability: "definitionProvider", methods: []string{"textDocument/definition"}, shows: "from a collateral line to the initiating one, from a frame to the source"},
	{capability: "referencesProvider", methods: []string{"textDocument/references"}, shows: "all lines that fell with the initiating one"},
	{capability: "documentLinkProvider", methods: []string{"textDocument/documentLink"}, shows: "from the frames of tracebacks to the sources"},
	{capability: "workspace.textDocumentContent", methods: []string{"workspace/textDocumentContent"}, shows: "the report of a log as a document", needs: "workspace.textDocumentContent"},
	{capability: "workspace.workspaceFolders", methods: []string{"workspace/didChangeWorkspaceFolders"}, shows: "each folder has its own settings and sources"},
	{capability: "graphtrap.diagnose", shows: "the report on `{text}`, `{uri, range}`, `{path}` or `{folder}`, with progress, and it can be cancelled"},
	{capability: "graphtrap.explain", shows: "what is known of a failure or a message, by its `{id}`"},
	{capability: "graphtrap.report", shows: "the report on `{uri}`, as a document or as Markdown"},
	{capability: "graphtrap.openReport", shows: "opens it, or shows its answer"},
	{capability: "graphtrap.fix", shows: "makes the edit of the code action"},
	{capability: "graphtrap.copyText", shows: "for the editor to copy to its clipboard; else the text is shown"},
	{capability: "graphtrap.debugInfo", shows: "what a bug report needs, without text of documents"},
}

// quiet are the capabilities that are no feature: how the others are spoken of.
var quiet = []string{"positionEncoding", "executeCommandProvider"}

const (
	tableBegin = "<!-- The table is written by `go test ./server -run TestReadme -update`. -->\n"
	tableEnd   = "<!-- end of the table -->\n"
)

// TestReadme checks that the README's table of features is what the server answers
// to initialize: to an editor that can do everything, to one that can do nothing,
// and to those that lack one capability.
func TestReadme(t *testing.T) {
	all := map[string]feature{}
	for _, f := range features {
		if f.capability != "" {
			all[f.capability] = f
		}
	}
	has := announced(t, "")
	for name := range has {
		if _, told := all[name]; !told && !slices.Contains(quiet, name) {
			t.Errorf("the server announces %s, which is no feature of the table", name)
		}
	}
	bare := announced(t, "*")
	for name, f := range all {
		switch {
		case !has[name]:
			t.Errorf("the server does not announce %s", name)
		case f.needs == "" && !bare[name]:
			t.Errorf("%s needs something of the client", name)
		case f.needs != "" && (bare[name] || announced(t, f.needs)[name]):
			t.Errorf("%s is announced without %s, too", name, f.needs)
		}
	}
	served(t)
	checkTable(t, "../README.md", table())
}

// announced is what the server announces to an editor that lacks one capability, or
// everything ("*").
func announced(t *testing.T, lacks string) map[string]bool {
	t.Helper()
	c, _ := start(t, server.Config{})
	params := lsptest.Params("")
	for _, f := range features {
		if path := strings.Split("capabilities."+f.needs, "."); f.needs != "" && !isSet(params, path) {
			lsptest.Set(params, object{}, path...)
		}
	}
	switch lacks {
	case "":
	case "*":
		params["capabilities"] = object{}
	default:
		lsptest.Set(params, nil, strings.Split("capabilities."+lacks, ".")...)
	}
	m := c.Start("initialize", params).Response()
	var result struct {
		Capabilities map[string]json.RawMessage
	}
	if err := json.Unmarshal(m.Result, &result); err != nil {
		t.Fatal(err)
	}
	c.Shutdown()
	names := map[string]bool{}
	for name, value := range result.Capabilities {
		if name != "workspace" {
			names[name] = true
			continue
		}
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(value, &inner); err != nil {
			t.Fatal(err)
		}
		for member := range inner {
			names["workspace."+member] = true
		}
	}
	var commands struct{ Commands []string }
	if err := json.Unmarshal(result.Capabilities["executeCommandProvider"], &commands); err != nil {
		t.Fatal(err)
	}
	for _, name := range commands.Commands {
		names[name] = true
	}
	return names
}

func isSet(o object, path []string) bool {
	for _, key := range path {
		inner, ok := o[key]
		if !ok {
			return false
		}
		o, _ = inner.(object)
	}
	return true
}

// served checks that the server knows the requests of the table.
func served(t *testing.T) {
	t.Helper()
	c := session(t, server.Config{})
	for _, f := range features {
		for _, method := range f.methods {
			_, name, _ := strings.Cut(method, "/")
			if strings.HasPrefix(name, "did") || method == "textDocument/publishDiagnostics" {
				continue // notifications
			}
			if m := c.Start(method, object{}).Response(); m.Error != nil && m.Error.Code == jsonrpc2.MethodNotFound {
				t.Errorf("the server does not know %s", method)
			}
		}
	}
}

// table is the README's.
func table() string {
	var b strings.Builder
	b.WriteString("\n| message or command | what it is for | if the editor has |\n| --- | --- | --- |\n")
	for _, f := range features {
		methods, needs := f.methods, f.needs
		if len(methods) == 0 {
			methods = []string{f.capability}
		}
		if needs != "" {
			needs = "`" + needs + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.Join(methods, "`, `"), f.shows, needs)
	}
	return strings.ReplaceAll(b.String(), "|  |", "| |") + "\n"
}

// checkTable compares what stands between the marks of a file, or writes it.
func checkTable(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), tableBegin)
	got, after, ended := strings.Cut(rest, tableEnd)
	switch {
	case !begun || !ended:
		t.Fatalf("%s has no table between %q and %q", path, tableBegin, tableEnd)
	case got == want:
	case *update:
		if err := os.WriteFile(path, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of %s is not up to date: go test ./server -run TestReadme -update", path)
	}
}
