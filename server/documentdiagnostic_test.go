package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// pullSession is a session with an editor that asks for diagnostics.
func pullSession(t *testing.T, c server.Config) *lsptest.Client {
	t.Helper()
	client, _ := start(t, c)
	client.Initialize("", lsptest.Pull)
	t.Cleanup(client.Shutdown)
	return client
}

// pulled is the report on a document.
type pulled struct {
	Kind     string                `json:"kind"`
	ResultID string                `json:"resultId"`
	Items    []protocol.Diagnostic `json:"items"`
	URI      string                `json:"uri"`
	Version  *int32                `json:"version"`
}

func pullParams(uri, previous string) object {
	p := object{"textDocument": object{"uri": uri}}
	if previous != "" {
		p["previousResultId"] = previous
	}
	return p
}

func pullDocument(c *lsptest.Client, uri, previous string) (r pulled) {
	c.Call("textDocument/diagnostic", pullParams(uri, previous), &r)
	return r
}

func TestPull(t *testing.T) {
	c, _ := start(t, server.Config{})
	got := c.Initialize("", lsptest.Pull)
	t.Cleanup(c.Shutdown)
	if o, ok := got.Capabilities.DiagnosticProvider.(*protocol.DiagnosticOptions); !ok || !o.WorkspaceDiagnostics || o.InterFileDependencies {
		t.Errorf("diagnostic provider %+v", got.Capabilities.DiagnosticProvider)
	}
	const text = "rank3 COLLATERAL waited\nrank17 INITIATOR oom\n"
	c.Open(logURI, "log", 1, text)
	first := pullDocument(c, logURI, "")
	if first.Kind != "full" || first.ResultID == "" || len(first.Items) != 2 || len(first.Items[0].RelatedInformation) != 1 || first.Items[1].Tags.Len() != 1 {
		t.Fatalf("%+v", first)
	}
	if again := pullDocument(c, logURI, first.ResultID); again.Kind != "unchanged" || again.ResultID != first.ResultID {
		t.Errorf("asked again: %+v", again)
	}
	// Another version with the same diagnostics is no news.
	c.Change(logURI, 2, appended(2, "more\n"))
	if grown := pullDocument(c, logURI, first.ResultID); grown.Kind != "unchanged" {
		t.Errorf("after a line that says nothing: %+v", grown)
	}
	c.Change(logURI, 3, appended(3, "rank4 COLLATERAL waited\n"))
	third := pullDocument(c, logURI, first.ResultID)
	if third.Kind != "full" || third.ResultID == first.ResultID || len(third.Items) != 3 {
		t.Errorf("after a line that says something: %+v", third)
	}
	c.Change(logURI, 4, object{"text": "fine"})
	if fine := pullDocument(c, logURI, third.ResultID); fine.Kind != "full" || len(fine.Items) != 0 {
		t.Errorf("when all is well: %+v", fine)
	}
	if none := pullDocument(c, logURI, pullDocument(c, logURI, "").ResultID); none.Kind != "unchanged" {
		t.Errorf("when all is still well: %+v", none)
	}
	c.Close(logURI)
	for _, uri := range []string{logURI, "file:///w/never.log"} {
		if closed := pullDocument(c, uri, third.ResultID); closed.Kind != "full" || len(closed.Items) != 0 {
			t.Errorf("%s, which is not open: %+v", uri, closed)
		}
	}
	if n := c.Count("textDocument/publishDiagnostics"); n != 0 {
		t.Errorf("diagnostics were pushed as well, %d times", n)
	}
}

// TestPushAndPullSayTheSame, also of a client that says its abilities for the one only.
func TestPushAndPullSayTheSame(t *testing.T) {
	const text = "é😀 rank3 COLLATERAL waited\nrank17 INITIATOR oom\nrank4 ECHO again\n"
	push, pull := session(t, server.Config{}), pullSession(t, server.Config{})
	later, _ := start(t, server.Config{})
	later.Initialize("", func(p object) {
		lsptest.Pull(p)
		lsptest.Set(p, nil, "capabilities", "textDocument", "publishDiagnostics")
		lsptest.Set(p, object{"relatedInformation": true, "tagSupport": object{"valueSet": []int{1}}}, "capabilities", "textDocument", "diagnostic")
	})
	t.Cleanup(later.Shutdown)
	less, _ := start(t, server.Config{})
	less.Initialize("", func(p object) {
		lsptest.Pull(p)
		lsptest.Set(p, nil, "capabilities", "textDocument", "publishDiagnostics")
	})
	t.Cleanup(less.Shutdown)
	for _, c := range []*lsptest.Client{push, pull, later, less} {
		c.Open(logURI, "log", 1, text)
	}
	want := show(push.Diagnostics(logURI, 1))
	for _, c := range []*lsptest.Client{pull, later} {
		if got := show(pullDocument(c, logURI, "").Items); got != want {
			t.Errorf("pulled:\n%swant:\n%s", got, want)
		}
	}
	if got := show(pullDocument(less, logURI, "").Items); strings.Contains(got, "\n  ") || strings.Contains(got, "tags") {
		t.Errorf("a client that can do less:\n%s", got)
	}
}

// TestAPullForAnOlderVersion is not answered with what is not true any more.
func TestAPullForAnOlderVersion(t *testing.T) {
	g := newGate()
	c := pullSession(t, server.Config{Analyze: g.analyze})
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	old := c.Start("textDocument/diagnostic", pullParams(logURI, ""))
	g.await(t, "started", &g.started, 1)
	c.Change(logURI, 2, object{"text": "rank2 INITIATOR"})
	settle(c)
	close(g.open)
	m := old.Response()
	if m.Error == nil || m.Error.Code != -32802 || string(m.Error.Data) != `{"retriggerRequest":true}` {
		t.Errorf("error %+v, result %s; want it to be asked for again", m.Error, m.Result)
	}
	if now := pullDocument(c, logURI, ""); len(now.Items) != 1 || !strings.Contains(show(now.Items), "rank 2") {
		t.Errorf("asked again: %+v", now)
	}
}

func TestAPullThatIsCancelled(t *testing.T) {
	g := newGate()
	c := pullSession(t, server.Config{Analyze: g.analyze})
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	p := c.Start("textDocument/diagnostic", pullParams(logURI, ""))
	g.await(t, "started", &g.started, 1)
	p.Cancel()
	if m := p.Response(); m.Error == nil || m.Error.Code != protocol.CodeRequestCancelled {
		t.Errorf("got %+v, want it cancelled", m.Error)
	}
	close(g.open)
}

// TestARefreshFollowsWhatTheClientCannotKnow, and nothing else.
func TestARefreshFollowsWhatTheClientCannotKnow(t *testing.T) {
	c := pullSession(t, server.Config{})
	c.Ignore("workspace/codeLens/refresh", "workspace/inlayHint/refresh", "workspace/semanticTokens/refresh")
	const note = "untitled:Untitled-1"
	c.Open(note, "plaintext", 1, "rank1 INITIATOR")
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	c.Change(logURI, 2, object{"text": "rank2 INITIATOR"})
	pullDocument(c, logURI, "")
	if quiet := pullDocument(c, note, ""); len(quiet.Items) != 0 {
		t.Errorf("unasked: %+v", quiet)
	}
	if n := c.Count("workspace/diagnostic/refresh"); n != 0 {
		t.Errorf("%d refreshes after changes of documents", n)
	}
	read(c, note)
	c.Notification("workspace/diagnostic/refresh", 1)
	if asked := pullDocument(c, note, ""); len(asked.Items) != 1 {
		t.Errorf("asked for: %+v", asked)
	}

	// A client that does not know of refreshes gets none.
	old, _ := start(t, server.Config{})
	old.Initialize("", func(p object) {
		lsptest.Pull(p)
		lsptest.Set(p, nil, "capabilities", "workspace", "diagnostics")
	})
	t.Cleanup(old.Shutdown)
	old.Open(note, "plaintext", 1, "rank1 INITIATOR")
	read(old, note)
	if asked := pullDocument(old, note, ""); len(asked.Items) != 1 || old.Count("workspace/diagnostic/refresh") != 0 {
		t.Errorf("asked for: %+v, %d refreshes", asked, old.Count("workspace/diagnostic/refresh"))
	}
}

// workspaceParams ask for all documents; known are the results that the client has.
func workspaceParams(token string, known map[string]string) object {
	ids := []object{}
	for uri, id := range known {
		ids = append(ids, object{"uri": uri, "value": id})
	}
	p := object{"previousResultIds": ids}
	if token != "" {
		p["partialResultToken"] = token
	}
	return p
}

func reports(t *testing.T, raw json.RawMessage) map[string]pulled {
	t.Helper()
	var r struct{ Items []json.RawMessage }
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	all := map[string]pulled{}
	for _, item := range r.Items {
		var p pulled
		if err := protocol.Unmarshal(item, &p); err != nil {
			t.Fatal(err)
		}
		if _, twice := all[p.URI]; twice {
			t.Errorf("%s is reported on twice", p.URI)
		}
		all[p.URI] = p
	}
	return all
}

func TestWorkspacePull(t *testing.T) {
	c := pullSession(t, server.Config{})
	const other, odd = "file:///logs/other.log", "oil:///tmp/train.log" // which has another canonical form
	c.Open(logURI, "log", 3, "rank1 INITIATOR")
	c.Open(odd, "log", 4, "rank2 INITIATOR")
	c.Open("file:///w/train.py", "python", 1, "rank1 INITIATOR")
	all := func(known map[string]string) map[string]pulled {
		m := c.Start("workspace/diagnostic", workspaceParams("", known)).Response()
		if m.Error != nil {
			t.Fatalf("%+v", m.Error)
		}
		return reports(t, m.Result)
	}
	first := all(nil)
	if len(first) != 2 || first[logURI].Kind != "full" || *first[logURI].Version != 3 || len(first[odd].Items) != 1 {
		t.Fatalf("%+v", first)
	}
	if one := pullDocument(c, logURI, first[logURI].ResultID); one.Kind != "unchanged" {
		t.Errorf("the document by itself has another result: %+v", one)
	}
	known := map[string]string{logURI: first[logURI].ResultID, odd: first[odd].ResultID}
	if second := all(known); len(second) != 2 || second[logURI].Kind != "unchanged" || second[odd].Kind != "unchanged" {
		t.Errorf("asked again: %+v", second)
	}
	c.Close(odd)
	c.Open(other, "log", 1, "fine")
	third := all(known)
	if len(third) != 3 || third[odd].Kind != "full" || len(third[odd].Items) != 0 || third[odd].Version != nil || len(third[other].Items) != 0 {
		t.Errorf("after one was closed: %+v", third)
	}
	for _, bad := range []object{{"previousResultIds": 5}, {"previousResultIds": []object{{"uri": 5, "value": "x"}}}} {
		c.Fails(-32602, "workspace/diagnostic", bad)
	}
}

// TestWorkspacePullWaitsForNews where the client takes partial results: it would ask
// again at once for ever.
func TestWorkspacePullWaitsForNews(t *testing.T) {
	c := pullSession(t, server.Config{})
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	known := map[string]string{}
	news := func(token string, n int) pulled {
		t.Helper()
		var p struct {
			Token string
			Value json.RawMessage
		}
		if err := json.Unmarshal(c.Notification("$/progress", n), &p); err != nil || p.Token != token {
			t.Fatalf("progress of %s: %v", p.Token, err)
		}
		for uri, r := range reports(t, p.Value) {
			known[uri] = r.ResultID
			return r
		}
		t.Fatalf("no report in %s", p.Value)
		return pulled{}
	}
	ends := func(p lsptest.Pending) {
		t.Helper()
		if m := p.Response(); m.Error != nil || string(m.Result) != `{"items":[]}` {
			t.Errorf("error %+v, result %s; want an empty one behind the partial ones", m.Error, m.Result)
		}
	}
	first := c.Start("workspace/diagnostic", workspaceParams("a", nil))
	if r := news("a", 1); r.Kind != "full" || len(r.Items) != 1 {
		t.Errorf("at first: %+v", r)
	}
	ends(first)

	second := c.Start("workspace/diagnostic", workspaceParams("b", known))
	c.Change(logURI, 2, appended(1, "\nnothing new\n"))
	settle(c)
	time.Sleep(3 * server.DefaultDebounce)
	if n := c.Count("$/progress"); n != 1 {
		t.Errorf("%d partial results although nothing is new", n)
	}
	c.Change(logURI, 3, object{"text": "rank5 INITIATOR"})
	if r := news("b", 2); *r.Version != 3 || !strings.Contains(show(r.Items), "rank 5") {
		t.Errorf("after a change: %+v", r)
	}
	ends(second)

	third := c.Start("workspace/diagnostic", workspaceParams("c", known))
	settle(c)
	c.Close(logURI)
	if r := news("c", 3); r.Kind != "full" || len(r.Items) != 0 {
		t.Errorf("after it was closed: %+v", r)
	}
	ends(third)

	cancelled := c.Start("workspace/diagnostic", workspaceParams("d", nil))
	settle(c)
	cancelled.Cancel()
	if m := cancelled.Response(); m.Error == nil || m.Error.Code != protocol.CodeRequestCancelled {
		t.Errorf("got %+v, want it cancelled", m.Error)
	}
	// Shutdown, at the end of the test, wants an answer to this one.
	c.Start("workspace/diagnostic", workspaceParams("e", nil))
}

// TestAWorkspacePullOutlivesABadDocument.
func TestAWorkspacePullOutlivesABadDocument(t *testing.T) {
	c := pullSession(t, server.Config{Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		a, err := fakeAnalysis(ctx, f, o)
		if err == nil && strings.Contains(a.Report.Verdict.Summary, "PANIC") {
			panic("no")
		}
		return a, err
	}})
	c.Open("file:///w/a.log", "log", 1, "PANIC")
	c.Open("file:///w/b.log", "log", 1, "rank1 INITIATOR")
	m := c.Start("workspace/diagnostic", workspaceParams("", nil)).Response()
	if m.Error != nil {
		t.Fatalf("%+v", m.Error)
	}
	if got := reports(t, m.Result); len(got) != 1 || len(got["file:///w/b.log"].Items) != 1 {
		t.Errorf("%+v", got)
	}
	c.Fails(-32603, "textDocument/diagnostic", pullParams("file:///w/a.log", ""))
}

// TestManyDocumentsComeInPieces of the workspace's diagnostics.
func TestManyDocumentsComeInPieces(t *testing.T) {
	c := pullSession(t, server.Config{})
	const n = 30
	for i := range n {
		c.Open(fmt.Sprintf("file:///w/%d.log", i), "log", 1, fmt.Sprintf("rank%d INITIATOR", i))
	}
	c.Call("workspace/diagnostic", workspaceParams("t", nil), nil)
	seen := map[string]bool{}
	for i := range n {
		var p struct{ Value json.RawMessage }
		if err := json.Unmarshal(c.Notification("$/progress", i+1), &p); err != nil {
			t.Fatal(err)
		}
		for uri := range reports(t, p.Value) {
			seen[uri] = true
		}
	}
	if len(seen) != n {
		t.Errorf("%d documents were reported on, want %d", len(seen), n)
	}
}
