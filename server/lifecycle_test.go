package server_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

func TestInitializeSaysWhatTheServerCan(t *testing.T) {
	c, _ := start(t, server.Config{})
	got := c.Initialize("", nil)
	t.Cleanup(c.Shutdown)
	if got.ServerInfo.Name != "graphtrap" {
		t.Errorf("server name %q", got.ServerInfo.Name)
	}
	if version, _ := got.ServerInfo.Version.Get(); version != "test" {
		t.Errorf("server version %q", version)
	}
	sync, ok := got.Capabilities.TextDocumentSync.(*protocol.TextDocumentSyncOptions)
	if !ok || *sync.Change != protocol.TextDocumentSyncKindIncremental || !*sync.OpenClose {
		t.Errorf("text synchronisation %+v, want incremental", got.Capabilities.TextDocumentSync)
	}
	if fmt.Sprint(got.Capabilities.ExecuteCommandProvider.Commands) != "[graphtrap.diagnose graphtrap.copyText graphtrap.explain graphtrap.report graphtrap.openReport graphtrap.fix graphtrap.debugInfo]" {
		t.Errorf("commands %v", got.Capabilities.ExecuteCommandProvider.Commands)
	}
}

func TestPositionEncodingIsNegotiated(t *testing.T) {
	tests := map[string]any{
		"utf-16": nil,
		"utf-8":  []string{"utf-32", "utf-16", "utf-8"},
		"utf-32": []string{"utf-32"},
	}
	for want, offered := range tests {
		t.Run(want, func(t *testing.T) {
			c, _ := start(t, server.Config{})
			got := c.Initialize("", func(p object) { lsptest.Set(p, offered, "capabilities", "general", "positionEncodings") })
			t.Cleanup(c.Shutdown)
			if string(got.Capabilities.PositionEncoding) != want {
				t.Errorf("got %q, want %q", got.Capabilities.PositionEncoding, want)
			}
			c.Open(logURI, "log", 1, "é😀東 rank1 INITIATOR\n")
			column := map[string]uint32{"utf-16": 5, "utf-8": 10, "utf-32": 4}[want]
			if d := c.Diagnostics(logURI, 1); d[0].Range.Start.Character != column {
				t.Errorf("column %d, want %d", d[0].Range.Start.Character, column)
			}
		})
	}
}

func TestACapabilityOfAWrongTypeCountsAsMissing(t *testing.T) {
	c, _ := start(t, server.Config{})
	got := c.Initialize("", func(p object) {
		lsptest.Set(p, "yes", "capabilities", "textDocument", "hover")
		lsptest.Set(p, 5, "capabilities", "window")
		lsptest.Set(p, []string{"utf-8"}, "capabilities", "general", "positionEncodings")
	})
	t.Cleanup(c.Shutdown)
	if got.Capabilities.PositionEncoding != protocol.PositionEncodingKindUTF8 {
		t.Errorf("encoding %q, want the one that was offered", got.Capabilities.PositionEncoding)
	}
	c.Open(logURI, "log", 1, "rank1 COLLATERAL x\nrank2 INITIATOR")
	if d := c.Diagnostics(logURI, 1); len(d[0].RelatedInformation) != 1 {
		t.Error("a capability of the right type was lost")
	}
	if content, ok := hoverAt(c, logURI, 1, 0).Contents.(*protocol.MarkupContent); !ok || content.Kind != protocol.MarkupKindPlainText {
		t.Errorf("hover %+v, want plain text", content)
	}
}

func TestRequestsInTheWrongPhase(t *testing.T) {
	c, status := start(t, server.Config{})
	c.Fails(jsonrpc2.ServerNotInitialized, "textDocument/hover", object{})
	c.Fails(jsonrpc2.ServerNotInitialized, "shutdown", nil)
	c.Fails(jsonrpc2.ServerNotInitialized, "no/such/method", nil)
	c.Open(logURI, "log", 1, "rank1 INITIATOR") // dropped
	c.Fails(jsonrpc2.InvalidParams, "initialize", object{"capabilities": "none"})
	c.Initialize("", nil)
	c.Fails(jsonrpc2.InvalidRequest, "initialize", lsptest.Params(""))
	if h := hoverAt(c, logURI, 0, 0); h != nil {
		t.Error("a document that was opened before initialize is there")
	}
	c.Call("shutdown", nil, nil)
	c.Fails(jsonrpc2.InvalidRequest, "textDocument/hover", object{})
	c.Fails(jsonrpc2.InvalidRequest, "shutdown", nil)
	c.Notify("exit", nil)
	if code := status(); code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
}

func TestExitStatus(t *testing.T) {
	tests := map[string]struct {
		end  func(*lsptest.Client)
		want int
	}{
		"shutdown and exit":   {(*lsptest.Client).Shutdown, 0},
		"exit only":           {func(c *lsptest.Client) { c.Notify("exit", nil) }, 1},
		"end of input":        {(*lsptest.Client).Hang, 1},
		"half a frame":        {func(c *lsptest.Client) { c.Raw("Content-Length: 50\r\n\r\n{"); c.Hang() }, 1},
		"shutdown and no end": {func(c *lsptest.Client) { c.Call("shutdown", nil, nil); c.Hang() }, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, status := start(t, server.Config{})
			c.Initialize("", nil)
			tt.end(c)
			if code := status(); code != tt.want {
				t.Errorf("exit status %d, want %d", code, tt.want)
			}
		})
	}
	t.Run("exit before initialize", func(t *testing.T) {
		c, status := start(t, server.Config{})
		c.Notify("exit", nil)
		if code := status(); code != 1 {
			t.Errorf("exit status %d, want 1", code)
		}
	})
}

func TestUnknownMessages(t *testing.T) {
	c := session(t, server.Config{})
	c.Fails(jsonrpc2.MethodNotFound, "textDocument/rename", object{})
	c.Fails(jsonrpc2.MethodNotFound, "$/unknown", nil)
	c.Fails(jsonrpc2.MethodNotFound, "textDocument/didOpen", object{}) // a notification, sent as a request
	for _, note := range []string{
		`{"jsonrpc":"2.0","method":"$/unknown"}`,
		`{"jsonrpc":"2.0","method":"$/logTrace","params":{}}`,
		`{"jsonrpc":"2.0","method":"unknown","params":[1]}`,
		`{"jsonrpc":"2.0","method":"initialized"}`,
		`{"jsonrpc":"2.0","method":"initialized","params":null}`,
		`{"jsonrpc":"2.0","method":"initialized","params":[]}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2147483648}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest"}`,
		`{"jsonrpc":"2.0","method":"textDocument/hover"}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen"}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"","languageId":"log","version":1,"text":""}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x:/a","languageId":"log","version":2147483648,"text":""}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x:/a","languageId":"log","version":1}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"x:/never","version":null}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"x:/never"}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"` + "\x01" + `"}}}`,
		`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":null,"removed":null}}}`,
		`{"jsonrpc":"2.0","id":77,"result":null}`,
		`{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"no"}}`,
	} {
		c.Frame(note)
		c.Fails(jsonrpc2.InvalidParams, "textDocument/hover", nil) // still there
	}
}

func TestMalformedFramesDoNotEndTheSession(t *testing.T) {
	c := session(t, server.Config{})
	for i, raw := range []string{
		"Content-Length: 5\r\n\r\n{\"a\":",
		"Content-Length: 2\r\n\r\n[]",
		"Content-Length: 0\r\n\r\n",
		"Content-Length: -1\r\n\r\n",
		"Content-Length: 99999999999999999999999\r\n\r\n",
		"Something: else\r\n\r\n{}",
	} {
		c.Raw(raw)
		c.Fails(jsonrpc2.MethodNotFound, "still/there", nil)
		if e := c.Errors(i + 1); e == nil {
			t.Errorf("%q was not answered with an error", raw)
		}
	}
	c.Frame(`{"jsonrpc":"1.0","id":"old","method":"textDocument/hover"}`)
	if m := c.Response(`"old"`, "a request of another version"); m.Error == nil || m.Error.Code != jsonrpc2.InvalidRequest {
		t.Errorf("got %+v, want an invalid request", m.Error)
	}
}

// gate is an analysis that waits until it is opened or cancelled.
type gate struct {
	open               chan struct{}
	started, cancelled atomic.Int32
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) analyze(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
	g.started.Add(1)
	select {
	case <-g.open:
		return fakeAnalysis(ctx, f, o)
	case <-ctx.Done():
		g.cancelled.Add(1)
		return nil, fmt.Errorf("reading %s: %w", f[0].Path, ctx.Err())
	}
}

func (g *gate) await(t *testing.T, what string, n *atomic.Int32, want int32) {
	t.Helper()
	for limit := time.Now().Add(lsptest.Patience); n.Load() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d analyses %s, want %d", n.Load(), what, want)
		}
	}
}

func TestCancel(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	p := c.Start("workspace/executeCommand", command(object{"text": "x"}))
	g.await(t, "started", &g.started, 1)
	p.Cancel()
	if m := p.Response(); m.Error == nil || m.Error.Code != protocol.CodeRequestCancelled {
		t.Errorf("got %+v, want it cancelled", m.Error)
	}
	g.await(t, "cancelled", &g.cancelled, 1)

	c.Frame(`{"jsonrpc":"2.0","id":"text","method":"workspace/executeCommand","params":{"command":"graphtrap.diagnose","arguments":[{"text":"x"}]}}`)
	g.await(t, "started", &g.started, 2)
	c.Notify("$/cancelRequest", object{"id": "other"})
	c.Notify("$/cancelRequest", object{"id": "text"})
	if m := c.Response(`"text"`, "a request with a text as id"); m.Error == nil || m.Error.Code != protocol.CodeRequestCancelled {
		t.Errorf("got %+v, want it cancelled", m.Error)
	}
}

func TestARequestWithAnIDInFlight(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	request := `{"jsonrpc":"2.0","id":"twice","method":"workspace/executeCommand","params":{"command":"graphtrap.diagnose","arguments":[{"text":"x"}]}}`
	c.Frame(request)
	g.await(t, "started", &g.started, 1)
	c.Frame(request)
	m := c.Response(`"twice"`, "the second of two")
	if m.Error == nil || m.Error.Code != jsonrpc2.InvalidRequest {
		t.Errorf("got %+v, want an invalid request", m.Error)
	}
	c.Forget(`"twice"`)
	close(g.open)
	if m := c.Response(`"twice"`, "the first of two"); m.Error != nil {
		t.Errorf("the first request failed: %+v", m.Error)
	}
}

func TestRequestsAreLimited(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	var all []lsptest.Pending
	for range 100 {
		all = append(all, c.Start("workspace/executeCommand", command(object{"text": "x"})))
	}
	refused := 0
	for _, p := range all[64:] {
		if m := p.Response(); m.Error != nil && m.Error.Code == -32803 {
			refused++
		}
	}
	if refused != 36 {
		t.Errorf("%d of 36 requests above the limit were refused", refused)
	}
	close(g.open)
	for _, p := range all[:64] {
		if m := p.Response(); m.Error != nil {
			t.Errorf("a request below the limit failed: %+v", m.Error)
		}
	}
	c.Call("workspace/executeCommand", command(object{"text": "x"}), nil)
}

// TestThereIsAlwaysRoomForShutdown, however many requests are in flight.
func TestThereIsAlwaysRoomForShutdown(t *testing.T) {
	g := newGate()
	c, status := start(t, server.Config{Analyze: g.analyze})
	c.Initialize("", nil)
	for range 80 {
		c.Start("workspace/executeCommand", command(object{"text": "x"}))
	}
	c.Call("shutdown", nil, nil)
	close(g.open)
	c.Await("the other responses", func(all map[string][]lsptest.Message) bool { return len(all) == 82 })
	c.Notify("exit", nil)
	if code := status(); code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
}

func TestShutdownAnswersWhatIsInFlight(t *testing.T) {
	g := newGate()
	c, status := start(t, server.Config{Analyze: g.analyze})
	c.Initialize("", nil)
	p := c.Start("workspace/executeCommand", command(object{"text": "x"}))
	g.await(t, "started", &g.started, 1)
	c.Call("shutdown", nil, nil)
	close(g.open)
	if m := p.Response(); m.Error != nil {
		t.Errorf("got %+v, want the report", m.Error)
	}
	c.Notify("exit", nil)
	if code := status(); code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
}

// TestTheEndOfInputCancelsAnalyses: nobody waits for them any more.
func TestTheEndOfInputCancelsAnalyses(t *testing.T) {
	g := newGate()
	c, status := start(t, server.Config{Analyze: g.analyze})
	c.Initialize("", nil)
	c.Open(logURI, "log", 1, "x")
	g.await(t, "started", &g.started, 1)
	c.Hang()
	if code := status(); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	g.await(t, "cancelled", &g.cancelled, 1)
}

func TestPanics(t *testing.T) {
	const secret = "the text of a document"
	core, logs := observer.New(zap.InfoLevel)
	c := session(t, server.Config{Log: zap.New(core), Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		text := make([]byte, f[0].Size)
		_, _ = f[0].Data.ReadAt(text, 0)
		if strings.Contains(string(text), "PANIC") {
			panic(errors.New(string(text)))
		}
		return fakeAnalysis(ctx, f, o)
	}})
	c.Fails(jsonrpc2.InternalError, "workspace/executeCommand", command(object{"text": "PANIC " + secret}))
	c.Open(logURI, "log", 1, "rank1 INITIATOR PANIC "+secret)
	if d := c.Diagnostics(logURI, 1); len(d) != 0 {
		t.Errorf("diagnostics of a document that cannot be analysed: %s", show(d))
	}
	message := c.Fails(jsonrpc2.InternalError, "textDocument/hover", object{
		"textDocument": object{"uri": logURI}, "position": object{"line": 0, "character": 0},
	})
	if strings.Contains(message, secret) {
		t.Errorf("the answer has text of the document: %s", message)
	}
	c.Change(logURI, 2, object{"text": "rank1 INITIATOR"})
	if d := c.Diagnostics(logURI, 2); len(d) != 1 {
		t.Errorf("diagnostics after a panic: %s", show(d))
	}
	panics := logs.FilterMessage("panic").All()
	if len(panics) != 3 {
		t.Errorf("%d panics were logged, want 3", len(panics))
	}
	for _, entry := range panics {
		fields := entry.ContextMap()
		if size, _ := fields["bytes"].(int64); fields["in"] == "" || fields["version"] != "test" || size == 0 || fields["kind"] != "*errors.errorString" {
			t.Errorf("a panic is told of by %v", fields)
		}
	}
	for _, entry := range logs.All() {
		if line := fmt.Sprint(entry.Message, entry.ContextMap()); strings.Contains(line, secret) {
			t.Errorf("the log has text of the document: %s", line)
		}
	}
}
