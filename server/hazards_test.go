package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/stream"
)

// The protocol module wires a server in a way that is unsafe for one that keeps
// documents, and leaves much to its user. Each hazard that was found has a test
// here, by its number. Where the module's own wiring, protocol.NewServer, is at fault
// the same conversation is held with it as well, and must show the fault: when it
// no longer does, our wiring can be simpler.

// plainServer keeps documents as the module offers it to. Like the server with the
// fake analysis it gives the text of a document as the summary of its report.
type plainServer struct {
	protocol.UnimplementedServer
	client protocol.Client

	mu    sync.Mutex
	texts map[uri.URI]string

	running, most atomic.Int32
	release       chan struct{}
}

func (*plainServer) Initialize(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	return &protocol.InitializeResult{Capabilities: protocol.ServerCapabilities{PositionEncoding: "utf-8"}}, nil
}

func (*plainServer) Shutdown(context.Context) error { return nil }

func (s *plainServer) DidOpen(ctx context.Context, p *protocol.DidOpenTextDocumentParams) error {
	s.mu.Lock()
	s.texts[p.TextDocument.URI] = p.TextDocument.Text
	s.mu.Unlock()
	return s.client.PublishDiagnostics(ctx, &protocol.PublishDiagnosticsParams{
		URI: p.TextDocument.URI, Version: protocol.NewOptional(p.TextDocument.Version), Diagnostics: []protocol.Diagnostic{},
	})
}

func (s *plainServer) DidChange(_ context.Context, p *protocol.DidChangeTextDocumentParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, change := range p.ContentChanges {
		text := position.New([]byte(s.texts[p.TextDocument.URI]), position.Convention{Encoding: "utf-8"})
		switch change := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			text = position.New([]byte(change.Text), position.Convention{})
		case *protocol.TextDocumentContentChangePartial:
			text = text.Replace(text.Offset(change.Range.Start), text.Offset(change.Range.End), []byte(change.Text))
		}
		s.texts[p.TextDocument.URI] = string(text.Bytes())
	}
	return nil
}

// Hover panics on a text that says PANIC, and takes its time on one that says SLOW.
func (s *plainServer) Hover(ctx context.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	s.mu.Lock()
	text := s.texts[p.TextDocument.URI]
	s.mu.Unlock()
	switch {
	case strings.Contains(text, "PANIC"):
		panic(text)
	case strings.Contains(text, "SLOW"):
		now := s.running.Add(1)
		defer s.running.Add(-1)
		for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
		}
		select {
		case <-s.release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case strings.Contains(text, "ERROR"):
		return nil, errors.New("it went wrong")
	}
	return nil, nil
}

func (s *plainServer) ExecuteCommand(_ context.Context, p *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	var a struct{ URI uri.URI }
	if len(p.Arguments) != 1 || json.Unmarshal(p.Arguments[0], &a) != nil {
		return nil, errors.New("bad argument")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.Marshal(object{"verdict": object{"summary": s.texts[a.URI]}})
}

// quietLog is for servers that have much to complain of.
var quietLog = zap.NewNop()

// wiring connects an editor to a server. The server's documents may say PANIC, SLOW
// and ERROR.
type wiring func(t testing.TB) *lsptest.Client

// ours is this package's wiring.
func ours(t testing.TB) *lsptest.Client {
	c, _ := start(t, server.Config{Log: quietLog, Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		a, err := fakeAnalysis(ctx, f, o)
		if err != nil {
			return nil, err
		}
		switch text := a.Report.Verdict.Summary; {
		case strings.Contains(text, "PANIC"):
			panic(text)
		case strings.Contains(text, "ERROR"):
			return nil, errors.New("it went wrong")
		}
		return a, nil
	}})
	c.Initialize("", nil)
	t.Cleanup(c.Shutdown)
	return c
}

// theirs is the module's. plain may be nil.
func theirs(plain *plainServer) wiring {
	return func(t testing.TB) *lsptest.Client {
		if plain == nil {
			plain = &plainServer{}
		}
		plain.texts, plain.release = map[uri.URI]string{}, make(chan struct{})
		ready := make(chan struct{})
		ctx, cancel := context.WithCancel(context.Background())
		c, _ := lsptest.Run(t, func(in io.Reader, out io.Writer) int {
			_, conn, client := protocol.NewServer(ctx, plain, jsonrpc2.NewStream(&duplex{in, out}))
			plain.client = client
			close(ready)
			<-conn.Done()
			return 0
		})
		t.Cleanup(cancel)
		<-ready
		c.Hurry(2 * time.Second)
		c.Initialize("", nil)
		return c
	}
}

// duplex joins the two ends of a server.
type duplex struct {
	io.Reader
	io.Writer
}

func (d *duplex) Close() error {
	var errs []error
	for _, v := range []any{d.Reader, d.Writer} {
		if c, ok := v.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// complaint is a test within a test: what it finds is kept and not a failure yet.
type complaint struct {
	testing.TB
	mu       sync.Mutex
	found    []string
	cleanups []func()
}

func (c *complaint) Helper()                   {}
func (c *complaint) Logf(string, ...any)       {}
func (c *complaint) Log(...any)                {}
func (c *complaint) Cleanup(f func())          { c.cleanups = append(c.cleanups, f) }
func (c *complaint) Error(args ...any)         { c.add(fmt.Sprint(args...)) }
func (c *complaint) Errorf(f string, a ...any) { c.add(fmt.Sprintf(f, a...)) }
func (c *complaint) Fatal(args ...any)         { c.add(fmt.Sprint(args...)); runtime.Goexit() }
func (c *complaint) Fatalf(f string, a ...any) { c.add(fmt.Sprintf(f, a...)); runtime.Goexit() }
func (c *complaint) FailNow()                  { c.add("it failed"); runtime.Goexit() }
func (c *complaint) Failed() bool              { return len(c.all()) > 0 }
func (c *complaint) Context() context.Context  { return context.Background() }

func (c *complaint) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, what)
}

func (c *complaint) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.found
}

// hold holds a conversation with a server of the wiring, and returns what was wrong.
func hold(t *testing.T, with wiring, talk func(t testing.TB, c *lsptest.Client)) []string {
	t.Helper()
	found := &complaint{TB: t}
	done := make(chan struct{})
	run := func(f func()) {
		done = make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		<-done
	}
	run(func() { talk(found, with(found)) })
	for len(found.cleanups) > 0 {
		last := found.cleanups[len(found.cleanups)-1]
		found.cleanups = found.cleanups[:len(found.cleanups)-1]
		run(last)
	}
	return found.all()
}

// survives holds the conversation with our wiring, which must stand it, and with
// the module's, which must not.
func survives(t *testing.T, talk func(t testing.TB, c *lsptest.Client)) {
	t.Helper()
	if wrong := hold(t, ours, talk); len(wrong) > 0 {
		t.Errorf("ours: %s", strings.Join(wrong, "\n"))
	}
	for range 20 { // some depend on which goroutine is faster
		if wrong := hold(t, theirs(nil), talk); len(wrong) > 0 {
			t.Logf("the module's own wiring: %s", wrong[0])
			return
		}
	}
	t.Error("the module's own wiring stands it as well by now")
}

// alive fails the test if the server does not answer any more.
func alive(t testing.TB, c *lsptest.Client) {
	t.Helper()
	if m := c.Start("textDocument/hover", object{"textDocument": object{"uri": "file:///none.log"}, "position": object{"line": 0, "character": 0}}).Response(); m.Error != nil {
		t.Errorf("the server answers with error %d: %s", m.Error.Code, m.Error.Message)
	}
}

// TestHazard01: messages must be handled in the order of the wire.
func TestHazard01(t *testing.T) {
	const changes = 10_000
	talk := func(t testing.TB, c *lsptest.Client) {
		var want strings.Builder
		c.Open(logURI, "log", 0, "")
		for i := range changes {
			line := fmt.Sprintf("line %d\n", i)
			c.Change(logURI, i+1, appended(i, line))
			want.WriteString(line)
			if i%500 != 499 {
				continue
			}
			if got := read(c, logURI); got != want.String() {
				t.Fatalf("after %d changes the text is another one", i+1)
			}
		}
	}
	if wrong := hold(t, ours, talk); len(wrong) > 0 {
		t.Errorf("ours: %s", strings.Join(wrong, "\n"))
	}
	for range 20 { // it goes wrong about every second time
		if wrong := hold(t, theirs(nil), talk); len(wrong) > 0 {
			t.Logf("the module's own wiring: %s", wrong[0])
			return
		}
	}
	t.Error("the module's own wiring keeps the order as well by now")
}

// TestHazard02: a notification that cannot be served must not end the session.
func TestHazard02(t *testing.T) {
	for name, note := range map[string]string{
		"unknown":                    `{"jsonrpc":"2.0","method":"$/foo"}`,
		"unknown, with params":       `{"jsonrpc":"2.0","method":"graphtrap/unknown","params":{}}`,
		"initialized without params": `{"jsonrpc":"2.0","method":"initialized"}`,
		"initialized with null":      `{"jsonrpc":"2.0","method":"initialized","params":null}`,
		"initialized with an array":  `{"jsonrpc":"2.0","method":"initialized","params":[]}`,
		"cancel of a large id":       `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2147483648}}`,
		"cancel of null":             `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}`,
		"a large version":            `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"x:/a","version":2147483648},"contentChanges":[]}}`,
		"a version of null":          `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x:/a","languageId":"log","version":null,"text":[]}}}`,
		"no URI":                     `{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":5}}}`,
		"a raw control character":    "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didClose\",\"params\":{\"textDocument\":{\"uri\":\"x:/\x01\"}}}",
	} {
		t.Run(name, func(t *testing.T) {
			survives(t, func(t testing.TB, c *lsptest.Client) {
				c.Frame(note)
				alive(t, c)
			})
		})
	}
}

// TestHazard03: a panic in a handler must not end the session.
func TestHazard03(t *testing.T) {
	survives(t, func(t testing.TB, c *lsptest.Client) {
		c.Open(logURI, "log", 1, "PANIC")
		c.Fails(jsonrpc2.InternalError, "textDocument/hover", object{"textDocument": object{"uri": logURI}, "position": object{"line": 0, "character": 0}})
		alive(t, c)
	})
}

// TestHazard04: a malformed frame must be answered, and must not end the session.
func TestHazard04(t *testing.T) {
	frame := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	for _, tt := range []struct{ name, raw, answeredTo string }{
		{"broken JSON", frame(`{"jsonrpc":"2.0",`), "null"},
		{"no version", frame(`{"id":"odd","method":"shutdown"}`), `"odd"`},
		{"another version", frame(`{"jsonrpc":"1.0","id":"odd","method":"shutdown"}`), `"odd"`},
		{"a fraction as id", frame(`{"jsonrpc":"2.0","id":1.5,"method":"shutdown"}`), "null"},
		{"result and error", frame(`{"jsonrpc":"2.0","id":"odd","result":1,"error":{"code":1,"message":""}}`), ""},
		{"byte order mark", frame("\ufeff" + `{"jsonrpc":"2.0","id":"odd","method":"shutdown"}`), "null"},
		{"a bad batch", frame(`[1,{}`), "null"},
		{"a stray blank line", "\r\n", ""},
		{"no length", "Content-Type: x\r\n\r\n{}", "null"},
		{"an empty message", "Content-Length: 0\r\n\r\n", "null"},
		{"a negative length", "Content-Length: -4\r\n\r\n", "null"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			survives(t, func(t testing.TB, c *lsptest.Client) {
				c.Raw(tt.raw)
				alive(t, c)
				switch tt.answeredTo {
				case "":
				case "null":
					c.Errors(1)
				default:
					if m := c.Response(tt.answeredTo, "a malformed request"); m.Error == nil {
						t.Errorf("answered with %s", m.Result)
					}
				}
			})
		})
	}
}

// allocated is what f allocates, in bytes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// inUse is the heap in use.
func inUse() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// filler is an input without an end of a line, of a given length.
type filler struct{ left int }

func (f *filler) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), f.left)
	for i := range p[:n] {
		p[i] = 'a'
	}
	f.left -= n
	return n, nil
}

// TestHazard05: memory must follow what arrives, not what is announced.
func TestHazard05(t *testing.T) {
	const mib = 1 << 20
	reads := func(s jsonrpc2.Stream) func() {
		return func() {
			for {
				if _, _, err := s.Read(context.Background()); err != nil {
					return
				}
			}
		}
	}
	for name, tt := range map[string]struct {
		input func() io.Reader
		limit uint64
	}{
		"an announced length":     {func() io.Reader { return strings.NewReader("Content-Length: 536870912\r\n\r\n{}") }, 4 * mib},
		"a header without an end": {func() io.Reader { return &filler{64 * mib} }, 4 * mib},
		"a length above the limit": {func() io.Reader {
			return io.MultiReader(strings.NewReader("Content-Length: 268435456\r\n\r\n"), &filler{1 * mib})
		}, 4 * mib},
	} {
		t.Run(name, func(t *testing.T) {
			if n := allocated(reads(stream.New(tt.input(), io.Discard))); n > tt.limit {
				t.Errorf("ours allocates %d MiB", n/mib)
			}
			n := allocated(reads(jsonrpc2.NewStream(&duplex{tt.input(), io.Discard})))
			if n <= tt.limit {
				t.Error("the module's own stream allocates as little by now")
			}
			t.Logf("the module's own stream allocates %d MiB", n/mib)
		})
	}
	t.Run("a large message long ago", func(t *testing.T) {
		body := func(n int) string {
			b := fmt.Sprintf(`{"jsonrpc":"2.0","method":"x","params":[%q]}`, strings.Repeat("a", n))
			return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(b), b)
		}
		input := body(32*mib) + body(1) + body(1)
		for name, s := range map[string]jsonrpc2.Stream{
			"ours": stream.New(strings.NewReader(input), io.Discard), "the module's": jsonrpc2.NewStream(&duplex{strings.NewReader(input), io.Discard}),
		} {
			before := inUse()
			for range 3 {
				if _, _, err := s.Read(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			kept := (inUse() - before) / mib
			if ours := name == "ours"; ours && kept > 8 {
				t.Errorf("%s stream keeps %d MiB", name, kept)
			} else if !ours && kept < 8 {
				t.Errorf("%s stream keeps %d MiB only, by now", name, kept)
			}
			runtime.KeepAlive(s)
		}
	})
}

// TestHazard06: requests must be limited, and given up when the input ends.
func TestHazard06(t *testing.T) {
	const asked = 300
	g := newGate()
	c, status := start(t, server.Config{Log: quietLog, Analyze: g.analyze})
	c.Initialize("", nil)
	c.Open("file:///w/note.md", "markdown", 1, "x")
	for range asked {
		c.Start("workspace/executeCommand", command(object{"text": "x"}))
	}
	refused := 0
	c.Await("refusals", func(all map[string][]lsptest.Message) bool {
		refused = 0
		for _, got := range all {
			if len(got) > 0 && got[0].Error != nil && got[0].Error.Code == -32803 {
				refused++
			}
		}
		return refused == asked-64
	})
	c.Hang()
	if code := status(); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	g.await(t, "given up", &g.cancelled, g.started.Load())

	plain := &plainServer{}
	hold(t, theirs(plain), func(t testing.TB, c *lsptest.Client) {
		c.Open(logURI, "log", 1, "SLOW")
		c.Diagnostics(logURI, 1)
		for range asked {
			c.Start("textDocument/hover", object{"textDocument": object{"uri": logURI}, "position": object{"line": 0, "character": 0}})
		}
		for limit := time.Now().Add(2 * time.Second); plain.most.Load() < asked && time.Now().Before(limit); {
			time.Sleep(time.Millisecond)
		}
		close(plain.release)
	})
	if most := plain.most.Load(); most < asked {
		t.Errorf("the module's own wiring ran only %d of %d requests at a time", most, asked)
	}
}

// TestHazard07: the context of a message is used again for another one, so nothing
// may hold on to it. What ours hands out stays good after the answer, and ends with
// the session. (With the module's, using it later ends the process.)
func TestHazard07(t *testing.T) {
	var mu sync.Mutex
	var kept []context.Context
	c, status := start(t, server.Config{Log: quietLog, Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		mu.Lock()
		kept = append(kept, ctx)
		mu.Unlock()
		return fakeAnalysis(ctx, f, o)
	}})
	c.Initialize("", nil)
	var pending []lsptest.Pending
	for i := range 500 {
		p := c.Start("workspace/executeCommand", command(object{"text": "x"}))
		if i%3 == 0 {
			p.Cancel()
		}
		if pending = append(pending, p); len(pending) == 50 {
			for _, p := range pending {
				p.Response()
			}
			pending = nil
		}
		mu.Lock()
		for _, ctx := range kept {
			_, _ = ctx.Deadline()
			_ = ctx.Value("x")
		}
		mu.Unlock()
	}
	c.Shutdown()
	status()
	for i, ctx := range kept {
		if ctx.Err() == nil {
			t.Fatalf("context %d of %d outlives the session", i, len(kept))
		}
	}
}

// requestsOfServers are what ours may ask an editor for, or send beside answers.
var requestsOfServers = []string{
	"workspace/configuration", "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "$/progress",
	"workspace/diagnostic/refresh", "workspace/codeLens/refresh", "workspace/inlayHint/refresh", "workspace/semanticTokens/refresh",
	"workspace/foldingRange/refresh", "workspace/textDocumentContent/refresh", "workspace/applyEdit", "window/showDocument",
	"window/showMessage", "window/showMessageRequest",
}

// TestHazard08: nothing that a notification starts may wait for the client on the
// goroutine that reads.
func TestHazard08(t *testing.T) {
	c, _ := start(t, server.Config{})
	for _, method := range requestsOfServers {
		c.Answer(method, func(json.RawMessage) any { return lsptest.Silence{} })
	}
	c.Ignore(requestsOfServers...)
	c.Initialize("file:///w", func(p object) {
		lsptest.Pull(p)
		lsptest.Set(p, true, "capabilities", "workspace", "configuration")
		lsptest.Set(p, true, "capabilities", "workspace", "didChangeConfiguration", "dynamicRegistration")
		lsptest.Set(p, true, "capabilities", "workspace", "didChangeWatchedFiles", "dynamicRegistration")
		lsptest.Set(p, true, "capabilities", "workspace", "codeLens", "refreshSupport")
		lsptest.Set(p, true, "capabilities", "window", "workDoneProgress")
	})
	c.Open("untitled:Untitled-1", "plaintext", 1, "rank1 INITIATOR")
	for i := range 20 {
		c.Notify("workspace/didChangeConfiguration", object{"settings": object{}})
		c.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{"added": []object{{"uri": fmt.Sprintf("file:///w%d", i), "name": "x"}}, "removed": []object{}}})
		c.Notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": "file:///w/a.log", "type": 2}}})
		alive(t, c)
	}
	read(c, "untitled:Untitled-1")
	alive(t, c)
	c.Shutdown()
}

// TestHazard09: a client that does not read must not keep the server from reading.
// [TestAClientThatDoesNotRead] holds the same for diagnostics; here it is the log,
// messages and refreshes.
func TestHazard09(t *testing.T) {
	serverIn, in := io.Pipe()
	out := &blockedWriter{first: make(chan struct{}), second: make(chan struct{}), release: make(chan struct{})}
	code := make(chan int, 1)
	srv := server.New(server.Config{Analyze: fakeAnalysis, Log: quietLog})
	go func() { code <- srv.Serve(context.Background(), serverIn, out) }()
	send := func(body string) {
		t.Helper()
		done := make(chan struct{})
		go func() {
			defer close(done)
			fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}()
		select {
		case <-done:
		case <-time.After(lsptest.Patience):
			t.Fatal("the server does not read")
		}
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{"textDocument":{"diagnostic":{}},"workspace":{"diagnostics":{"refreshSupport":true}}}}}`)
	<-out.first
	send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	for i := range 300 {
		// One message to the user each, a warning in the log, and a request.
		send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///%d.log","languageId":"log","version":0,"text":"x"}}}`, i))
		send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///%d.log","version":1},"contentChanges":[{}]}}`, i))
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"workspace/executeCommand","params":{"command":"graphtrap.copyText","arguments":["x"]}}`, i+2))
	}
	send(`{"jsonrpc":"2.0","method":"exit"}`)
	select {
	case n := <-code:
		if n != 1 {
			t.Errorf("exit status %d, want 1", n)
		}
	case <-time.After(lsptest.Patience):
		t.Error("the server does not end")
	}
	close(out.release)
	in.Close()
}

// TestHazard10: exit must end the server although nobody closes its input.
func TestHazard10(t *testing.T) {
	c, status := start(t, server.Config{Log: quietLog})
	c.Initialize("", nil)
	c.Shutdown()
	if code := status(); code != 0 { // the client's end is still open
		t.Errorf("exit status %d, want 0", code)
	}
	if wrong := hold(t, theirs(nil), func(t testing.TB, c *lsptest.Client) {
		c.Hurry(300 * time.Millisecond)
		c.Shutdown()
		c.Ended()
	}); len(wrong) == 0 {
		t.Error("the module's own wiring ends at exit by now")
	}
}

// TestHazard11: what is sent in the wrong phase must be refused.
func TestHazard11(t *testing.T) {
	survives(t, func(t testing.TB, c *lsptest.Client) {
		c.Fails(jsonrpc2.InvalidRequest, "initialize", lsptest.Params(""))
	})
	c, _ := start(t, server.Config{Log: quietLog})
	c.Fails(jsonrpc2.ServerNotInitialized, "textDocument/hover", object{})
	c.Initialize("", nil)
	c.Call("shutdown", nil, nil)
	c.Fails(jsonrpc2.InvalidRequest, "textDocument/hover", object{})
	c.Notify("exit", nil)
}

// TestHazard12: an error must have the code that says what it is.
func TestHazard12(t *testing.T) {
	document := object{"textDocument": object{"uri": logURI}, "position": object{"line": 0, "character": 0}}
	for name, talk := range map[string]func(testing.TB, *lsptest.Client){
		"params that cannot be read": func(t testing.TB, c *lsptest.Client) {
			c.Fails(jsonrpc2.InvalidParams, "textDocument/hover", object{"position": "here"})
		},
		"a plain error": func(t testing.TB, c *lsptest.Client) {
			c.Open(logURI, "log", 1, "ERROR")
			c.Fails(-32803, "textDocument/hover", document)
		},
	} {
		t.Run(name, func(t *testing.T) { survives(t, talk) })
	}
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	c.Open(logURI, "log", 1, "x")
	p := c.Start("textDocument/hover", document)
	g.await(t, "started", &g.started, 1)
	p.Cancel()
	if m := p.Response(); m.Error == nil || m.Error.Code != protocol.CodeRequestCancelled {
		t.Errorf("a cancelled request: %+v", m.Error)
	}
	close(g.open)
}

// TestHazard13: a change with a bad range must not pass for the whole text.
func TestHazard13(t *testing.T) {
	for name, change := range map[string]string{
		"a negative character": `{"range":{"start":{"line":0,"character":-1},"end":{"line":0,"character":0}},"text":"x"}`,
		"half a character":     `{"range":{"start":{"line":0,"character":0.5},"end":{"line":0,"character":1}},"text":"x"}`,
		"a negative length":    `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"rangeLength":-1,"text":"x"}`,
		"nothing at all":       `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			survives(t, func(t testing.TB, c *lsptest.Client) {
				c.Ignore("window/showMessage")
				c.Open(logURI, "log", 1, "a\nb\n")
				c.Frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":%q,"version":2},"contentChanges":[%s]}}`, logURI, change))
				m := c.Start("workspace/executeCommand", command(object{"uri": logURI})).Response()
				if m.Error == nil {
					t.Errorf("the text is taken to be known: %s", m.Result)
				}
			})
		})
	}
}

// TestHazard14: a URI must go back as the client spelled it.
func TestHazard14(t *testing.T) {
	for _, spelled := range []string{
		"oil:///tmp/train.log", "fugitive:///r//x.log", "file:///C:/train.log", "file:///w/a+b.log", "file:///w/a%2Fb.log", "file:///w/a b.log",
	} {
		t.Run(spelled, func(t *testing.T) {
			survives(t, func(t testing.TB, c *lsptest.Client) {
				c.Hurry(500 * time.Millisecond)
				c.Open(spelled, "log", 1, "rank1 INITIATOR")
				c.Diagnostics(spelled, 1)
			})
		})
	}
	t.Run("unchanged", func(t *testing.T) {
		c := session(t, server.Config{})
		for _, spelled := range []string{"untitled:Untitled-1", "output:extension-output-#1", "vscode-notebook-cell:/w/a.ipynb#W0sZmlsZQ%3D%3D", "vscode-terminal:/1234/1", "vscode-remote://ssh-remote%2Bh/w/train.log"} {
			c.Open(spelled, "log", 1, "rank1 INITIATOR")
			c.Diagnostics(spelled, 1)
		}
	})
}

// TestHazard15: what has a scheme of its own is no file of ours.
func TestHazard15(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	if err := os.WriteFile(path, []byte("rank1 INITIATOR"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := session(t, server.Config{})
	remote := "vscode-remote://host" + uri.File(path).Path()
	if elsewhere, err := uri.Parse(remote); err != nil || elsewhere.FsPath() == "" {
		t.Errorf("the module gives no path for %s any more: %v", remote, err)
	}
	for _, name := range []string{remote, "untitled:" + path, "git:" + path} {
		if m := c.Start("workspace/executeCommand", command(object{"uri": name})).Response(); m.Error == nil {
			t.Errorf("%s was read from the disk: %s", name, m.Result)
		}
	}
	var local report
	c.Call("workspace/executeCommand", command(object{"uri": string(uri.File(path))}), &local)
	if local.Verdict.Status != "diagnosed" {
		t.Errorf("the file itself: %+v", local)
	}
}

// TestHazard16: nothing small that is kept may keep a whole message alive.
func TestHazard16(t *testing.T) {
	const size = 48 << 20
	large := strings.Repeat("all is well, and has been so for a while\n", size/41)
	frame := fmt.Sprintf(`{"textDocument":{"uri":"file:///w/odd","languageId":"an odd language","version":1,"text":%q}}`, large)
	var p protocol.DidOpenTextDocumentParams
	before := inUse()
	if err := protocol.Unmarshal([]byte(frame), &p); err != nil {
		t.Fatal(err)
	}
	language := p.TextDocument.LanguageID
	p = protocol.DidOpenTextDocumentParams{}
	if kept := inUse() - before; kept < size/2 {
		t.Errorf("with the module's type a language keeps %d MiB only, by now", kept>>20)
	}
	runtime.KeepAlive(language)
	runtime.KeepAlive(frame)

	c := session(t, server.Config{Log: quietLog})
	c.Open(logURI, "log", 1, "x")
	c.Diagnostics(logURI, 1)
	before = inUse()
	c.Open("file:///w/odd", "an odd language", 1, large)
	c.Change("file:///w/odd", 2, object{"text": "small"})
	c.Notify("textDocument/didOpen", object{"textDocument": object{"uri": "file:///w/" + strings.Repeat("a", 100), "languageId": "log", "version": 1, "text": ""}})
	c.Open(logURI+".1", "log", 1, "small")
	c.Diagnostics(logURI+".1", 1) // small frames make the stream give up its buffer
	for limit := time.Now().Add(lsptest.Patience); ; time.Sleep(10 * time.Millisecond) {
		kept := inUse() - before
		if kept < size/4 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("%d MiB are kept of a text of %d MiB that is gone", kept>>20, size>>20)
		}
	}
	runtime.KeepAlive(large)
}

// TestHazard17: odd text passes, and columns count it as the client has it.
func TestHazard17(t *testing.T) {
	c := session(t, server.Config{})
	// A lone surrogate and bytes that are no UTF-8 become U+FFFD; NUL and ESC pass.
	c.Frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"` + logURI + `","languageId":"log","version":1,"text":"\ud800 \u0000 \u001b[31m ` + "\xff" + ` rank1 INITIATOR"}}}`)
	d := c.Diagnostics(logURI, 1)
	if len(d) != 1 || d[0].Range.Start.Character != uint32(len("\ufffd \x00 \x1b[31m \ufffd ")) { // in UTF-8
		t.Errorf("%s", show(d))
	}
	c.Frame(`{"jsonrpc":"2.0","id":"deep","method":"textDocument/hover","params":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`)
	if m := c.Response(`"deep"`, "deep nesting"); m.Error == nil {
		t.Errorf("deep nesting is answered with %s", m.Result)
	}
	alive(t, c)
}

// TestHazard18: a response of the client's that is an error must not lock the
// connection. (The module's LoggingStream does, so it is not used.)
func TestHazard18(t *testing.T) {
	c, _ := start(t, server.Config{})
	refuse := func(json.RawMessage) any {
		return &jsonrpc2.Error{Code: jsonrpc2.MethodNotFound, Message: "no"}
	}
	for _, method := range requestsOfServers {
		c.Answer(method, refuse)
	}
	c.Ignore(requestsOfServers...)
	c.Initialize("", func(p object) {
		lsptest.Pull(p)
		lsptest.Set(p, true, "capabilities", "workspace", "configuration")
		lsptest.Set(p, true, "capabilities", "workspace", "didChangeConfiguration", "dynamicRegistration")
	})
	for i := range 5 {
		note := fmt.Sprintf("untitled:Untitled-%d", i)
		c.Open(note, "plaintext", 1, "rank1 INITIATOR")
		read(c, note)
	}
	c.Notification("workspace/diagnostic/refresh", 1)
	alive(t, c)
	c.Shutdown()
}

// TestHazard19: a request with the id of one in flight must be refused.
func TestHazard19(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	request := `{"jsonrpc":"2.0","id":"twice","method":"workspace/executeCommand","params":{"command":"graphtrap.diagnose","arguments":[{"text":"x"}]}}`
	c.Frame(request)
	g.await(t, "started", &g.started, 1)
	c.Frame(request)
	if m := c.Response(`"twice"`, "the second of two"); m.Error == nil || m.Error.Code != jsonrpc2.InvalidRequest {
		t.Errorf("got %+v, want an invalid request", m.Error)
	}
	c.Forget(`"twice"`)
	close(g.open)
	c.Response(`"twice"`, "the first of two")

	plain := &plainServer{}
	hold(t, theirs(plain), func(t testing.TB, c *lsptest.Client) {
		c.Open(logURI, "log", 1, "SLOW")
		c.Diagnostics(logURI, 1)
		hover := fmt.Sprintf(`{"jsonrpc":"2.0","id":"twice","method":"textDocument/hover","params":{"textDocument":{"uri":%q},"position":{"line":0,"character":0}}}`, logURI)
		c.Frame(hover)
		c.Frame(hover)
		for limit := time.Now().Add(2 * time.Second); plain.most.Load() < 2 && time.Now().Before(limit); {
			time.Sleep(time.Millisecond)
		}
		close(plain.release)
	})
	if plain.most.Load() < 2 {
		t.Error("the module's own wiring refuses the second one by now")
	}
}

// TestHazard20: a batch is no message of this protocol.
func TestHazard20(t *testing.T) {
	survives(t, func(t testing.TB, c *lsptest.Client) {
		c.Frame(`[{"jsonrpc":"2.0","id":"in a batch","method":"textDocument/hover","params":{"textDocument":{"uri":"x:/a"},"position":{"line":0,"character":0}}}]`)
		if e := c.Errors(1); e.Code != jsonrpc2.InvalidRequest {
			t.Errorf("error %d: %s", e.Code, e.Message)
		}
		alive(t, c)
	})
}

// TestHazard21: the first message must find a server that can answer, though it is
// there before the server is.
func TestHazard21(t *testing.T) {
	for range 20 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		out, serverOut, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`,
			`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x:/a.log","languageId":"log","version":1,"text":"rank1 INITIATOR"}}}`,
		} {
			fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			server.New(server.Config{Analyze: fakeAnalysis, Log: quietLog}).Serve(context.Background(), r, serverOut)
			serverOut.Close()
		}()
		c := lsptest.Connect(t, w, out)
		c.Response("1", "initialize")
		if d := c.Diagnostics("x:/a.log", 1); len(d) != 1 {
			t.Errorf("%s", show(d))
		}
		c.Hang()
		<-done
		r.Close()
	}
}

// TestHazard22: params may be absent or null, of requests that the protocol knows
// and of others.
func TestHazard22(t *testing.T) {
	survives(t, func(t testing.TB, c *lsptest.Client) {
		for i, params := range []string{"", `,"params":null`} {
			id := fmt.Sprint(1000 + i)
			c.Frame(`{"jsonrpc":"2.0","id":` + id + `,"method":"graphtrap/unknown"` + params + `}`)
			if m := c.Response(id, "an unknown request"); m.Error == nil || m.Error.Code != jsonrpc2.MethodNotFound {
				t.Errorf("%+v", m.Error)
			}
		}
	})
	c := session(t, server.Config{})
	for i, params := range []string{"", `,"params":null`, `,"params":[]`} {
		id := fmt.Sprint(1000 + i)
		c.Frame(`{"jsonrpc":"2.0","id":` + id + `,"method":"textDocument/hover"` + params + `}`)
		if m := c.Response(id, "a hover without params"); m.Error != nil && m.Error.Code != jsonrpc2.InvalidParams {
			t.Errorf("%+v", m.Error)
		}
	}
	alive(t, c)
}

// TestHazard23: what the module has no help for is here: columns in each unit,
// pieces of long answers, a pause for bursts of changes, and a store of documents.
func TestHazard23(t *testing.T) {
	for encoding, column := range map[protocol.PositionEncodingKind]uint32{"utf-8": 10, "utf-16": 5, "utf-32": 4} {
		text := position.New([]byte("é😀東 x"), position.Convention{Encoding: encoding})
		if got := text.Position(10).Character; got != column || text.Offset(protocol.Position{Character: column}) != 10 {
			t.Errorf("%s: column %d, want %d", encoding, got, column)
		}
	}
	var analyses atomic.Int32
	c := session(t, server.Config{Debounce: 100 * time.Millisecond, Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		analyses.Add(1)
		return fakeAnalysis(ctx, f, o)
	}})
	c.Open(logURI, "log", 0, "")
	c.Diagnostics(logURI, 0)
	for i := 1; i <= 30; i++ {
		c.Change(logURI, i, object{"range": lsptest.Span(0, 0, 0, 0), "text": "x\n"})
	}
	c.Diagnostics(logURI, 30)
	if n := analyses.Load(); n > 5 {
		t.Errorf("%d analyses of a burst", n)
	}
	if got := read(c, logURI); got != strings.Repeat("x\n", 30) {
		t.Errorf("the text is %q", got)
	}
}
