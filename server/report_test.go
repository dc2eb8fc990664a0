package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// readsReports makes an editor that asks servers for the text of documents.
func readsReports(p object) {
	lsptest.Set(p, object{"dynamicRegistration": true}, "capabilities", "workspace", "textDocumentContent")
}

func reportCommand(document string) object {
	return object{"command": "graphtrap.report", "arguments": []any{object{"uri": document}}}
}

type reportAnswer struct {
	URI      string `json:"uri"`
	Markdown string `json:"markdown"`
}

func content(c *lsptest.Client, report string) string {
	var got struct {
		Text string `json:"text"`
	}
	c.Call("workspace/textDocumentContent", object{"uri": report}, &got)
	return got.Text
}

func TestReportsAreOfferedToThoseWhoReadThem(t *testing.T) {
	for _, able := range []bool{true, false} {
		c, _ := start(t, server.Config{})
		got := c.Initialize("", func(p object) {
			if able {
				readsReports(p)
			}
		})
		t.Cleanup(c.Shutdown)
		if has := got.Capabilities.Workspace.TextDocumentContent != nil; has != able {
			t.Errorf("an editor that reads them: %v; offered: %v", able, has)
		}
		c.Open("untitled:Untitled-1", "plain", 1, "rank4 INITIATOR")
		var answer reportAnswer
		c.Call("workspace/executeCommand", reportCommand("untitled:Untitled-1"), &answer)
		if able != (answer.URI == "graphtrap:report?untitled:Untitled-1") || able == strings.Contains(answer.Markdown, "# Rank 4 started it") {
			t.Errorf("an editor that reads them: %v; answer %+v", able, answer)
		}
	}
}

// However an editor encodes the report's URI, it is the report of that document, and
// the refresh has the URI as the editor spells it.
func TestReportURIs(t *testing.T) {
	for _, document := range []string{
		"file:///logs/a%20b%25c.log", "untitled:Untitled-1", "vscode-notebook-cell:/x.ipynb#W0sZ", "oil:///tmp/x.log", "file:///logs/é.log", "x:/a?b=c&d=e+f",
	} {
		t.Run(document, func(t *testing.T) {
			c, _ := start(t, server.Config{Debounce: time.Millisecond})
			c.Initialize("", readsReports)
			t.Cleanup(c.Shutdown)
			c.Open(document, "log", 1, "rank4 INITIATOR")
			var answer reportAnswer
			c.Call("workspace/executeCommand", reportCommand(document), &answer)
			// As vscode-uri prints what it parsed.
			parsed := strings.NewReplacer("%25", "%", "%23", "#", "%20", " ").Replace(strings.TrimPrefix(answer.URI, "graphtrap:report?"))
			encoded := "graphtrap:report?" + strings.NewReplacer("%", "%25", ":", "%3A", "#", "%23", "?", "%3F", "=", "%3D", "&", "%26", "+", "%2B", "é", "%C3%A9").Replace(parsed)
			for _, spelled := range []string{answer.URI, encoded} {
				if got := content(c, spelled); !strings.HasPrefix(got, "# Rank 4 started it") {
					t.Errorf("%s: %.100s", spelled, got)
				}
			}
			c.Change(document, 2, object{"text": "rank5 INITIATOR"})
			var refresh struct{ URI string }
			if err := json.Unmarshal(c.Notification("workspace/textDocumentContent/refresh", 1), &refresh); err != nil {
				t.Fatal(err)
			}
			if refresh.URI != encoded {
				t.Errorf("refresh of %s, want %s", refresh.URI, encoded)
			}
			if got := content(c, encoded); !strings.HasPrefix(got, "# Rank 5 started it") {
				t.Errorf("after the change: %.100s", got)
			}
			c.Count("workspace/textDocumentContent/refresh")
		})
	}
}

func TestReportsThatNobodyReadAreNotRefreshed(t *testing.T) {
	c, _ := start(t, server.Config{})
	c.Initialize("", readsReports)
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, "rank4 INITIATOR")
	c.Call("workspace/executeCommand", reportCommand(logURI), nil)
	c.Change(logURI, 2, object{"text": "rank5 INITIATOR"})
	c.Diagnostics(logURI, 2)
	if n := c.Count("workspace/textDocumentContent/refresh"); n > 0 {
		t.Errorf("%d refreshes", n)
	}
}

func TestReportsOfFiles(t *testing.T) {
	dir := workspace(t, map[string]string{"train.log": "rank6 INITIATOR\n", "logs/rank_1.log": "rank7 INITIATOR\n"})
	c, _ := start(t, server.Config{})
	c.Initialize(string(uri.File(dir)), readsReports)
	t.Cleanup(c.Shutdown)
	file := string(uri.File(filepath.Join(dir, "train.log")))
	got := content(c, "graphtrap:report?"+file)
	if !strings.HasPrefix(got, "# Rank 6 started it") || !strings.Contains(got, "[line 1]("+file+"#L1)") && !strings.Contains(got, "[Line 1]("+file+"#L1)") {
		t.Errorf("a file: %s", got)
	}
	if got := content(c, "graphtrap:report?"+string(uri.File(filepath.Join(dir, "logs")))); !strings.HasPrefix(got, "# Rank 7 started it") {
		t.Errorf("a folder: %s", got)
	}
	for _, wrong := range []string{"graphtrap:report", "graphtrap:report?", "graphtrap:report?%zz", "file:///x", "", "graphtrap:report?%00"} {
		if m := c.Start("workspace/textDocumentContent", object{"uri": wrong}).Response(); m.Error == nil {
			t.Errorf("%q has a text", wrong)
		}
	}
	for _, missing := range []string{"untitled:none", "file:///nowhere/x.log"} {
		c.Fails(-32803, "workspace/textDocumentContent", object{"uri": "graphtrap:report?" + missing})
		c.Fails(-32803, "workspace/executeCommand", reportCommand(missing))
	}
	c.Fails(jsonrpc2.InvalidParams, "workspace/executeCommand", object{"command": "graphtrap.report", "arguments": []any{}})
}

// Only so many reports are remembered, those that were read last.
func TestManyReports(t *testing.T) {
	c, _ := start(t, server.Config{Debounce: time.Millisecond})
	c.Initialize("", readsReports)
	t.Cleanup(c.Shutdown)
	name := func(i int) string { return "untitled:" + strings.Repeat("x", i+1) }
	const n = 100
	for i := range n {
		c.Open(name(i), "log", 1, "rank4 INITIATOR")
		content(c, "graphtrap:report?"+name(i))
	}
	for _, i := range []int{0, 1, n - 1} {
		c.Change(name(i), 2, object{"text": "rank5 INITIATOR"})
		c.Diagnostics(name(i), 2)
	}
	var p struct{ URI string }
	if err := json.Unmarshal(c.Notification("workspace/textDocumentContent/refresh", 1), &p); err != nil {
		t.Fatal(err)
	}
	if n := c.Count("workspace/textDocumentContent/refresh"); n != 1 || p.URI != "graphtrap:report?"+name(99) {
		t.Errorf("%d refreshes, the first of %s", n, p.URI)
	}
}

func TestExplain(t *testing.T) {
	c := session(t, server.Config{})
	explain := func(arguments ...any) object {
		return object{"command": "graphtrap.explain", "arguments": arguments}
	}
	var e struct {
		ID       string `json:"id"`
		Kind     string `json:"kind"`
		Markdown string `json:"markdown"`
	}
	for id, kind := range map[string]string{"cuda-graph-capture-oom": "failure", "torch-oom": "message", "cuda-oom": "failure"} {
		c.Call("workspace/executeCommand", explain(object{"id": id, "format": "markdown"}), &e)
		if e.ID != id || e.Kind != kind || !strings.HasPrefix(e.Markdown, "# ") {
			t.Errorf("%s: %+v", id, e)
		}
	}
	message := c.Fails(jsonrpc2.InvalidParams, "workspace/executeCommand", explain(object{"id": "cuda-graph-capture-omm"}))
	if !strings.Contains(message, "nearest are cuda-graph-capture-oom") {
		t.Errorf("message %s", message)
	}
	for _, wrong := range [][]any{{}, {object{}}, {"cuda-oom"}, {object{"id": 1}}, {object{"id": ""}}} {
		c.Fails(jsonrpc2.InvalidParams, "workspace/executeCommand", explain(wrong...))
	}
}

func TestDebugInfo(t *testing.T) {
	const secret = "rank3 INITIATOR the launch code is 0000"
	dir := workspace(t, map[string]string{"private.log": "x", "sigs/messages/ours.toml": ownSignature})
	c, _ := start(t, server.Config{})
	c.Initialize(string(uri.File(dir)), func(p object) {
		p["clientInfo"] = object{"name": "an editor", "version": "7.1"}
		p["trace"] = "messages"
		options(object{
			"signatureFolder": "sigs", "pathMappings": []object{{"from": "/home/private", "to": "/private"}}, "rankOfInterest": 2,
			"suppressions": []string{"xid", "private-id"}, "collateralSeverity": "none",
		})(p)
	})
	t.Cleanup(c.Shutdown)
	c.Notification("window/showMessage", 1) // private-id is no id
	c.Open(string(uri.File(filepath.Join(dir, "private.log"))), "log", 4, secret+"\n\n")
	c.Diagnostics(string(uri.File(filepath.Join(dir, "private.log"))), 4)
	c.Open("untitled:private.secret-extension-1", "private language", 1, secret)
	c.Fails(jsonrpc2.InvalidParams, "workspace/executeCommand", object{"command": "graphtrap.diagnose", "arguments": []any{object{"text": "x", "path": "y"}}})
	m := c.Start("workspace/executeCommand", object{"command": "graphtrap.debugInfo", "arguments": []any{object{}}}).Response()
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	for _, private := range []string{"private", "launch code", filepath.Base(dir), os.TempDir(), "secret"} {
		if strings.Contains(string(m.Result), private) {
			t.Errorf("%q is in %s", private, m.Result)
		}
	}
	var info struct {
		Version, Go, Platform, Encoding, Trace string
		Client                                 struct{ Name, Version string }
		Folders                                int
		Settings                               map[string]any
		Documents                              []struct {
			Scheme, Extension, Language string
			Version, Bytes, Lines       int
			Watched, Analysed           bool
		}
		Analyses struct {
			Done, Running int
			Bytes         int64
			Total         float64 `json:"total_ms"`
		}
		Memory struct{ Heap, System, Goroutines int }
	}
	if err := json.Unmarshal(m.Result, &info); err != nil {
		t.Fatal(err)
	}
	d := info.Documents
	if len(d) != 2 || d[0].Scheme != "file" || d[0].Extension != "log" || d[0].Version != 4 || d[0].Lines != 3 || !d[0].Watched || !d[0].Analysed || d[1].Scheme != "untitled" || d[1].Watched {
		t.Errorf("documents %+v", d)
	}
	if info.Version != "test" || info.Client.Name != "an editor" || info.Encoding == "" || info.Trace != "messages" || info.Folders != 1 || info.Memory.Heap == 0 || info.Analyses.Done == 0 || info.Analyses.Running != 0 {
		t.Errorf("%+v", info)
	}
	if s := info.Settings; s["pathMappings"] != 1.0 || s["signatureFolder"] != true || s["rankOfInterest"] != 2.0 || s["collateralSeverity"] != "none" {
		t.Errorf("settings %v", s)
	}
}
