package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// lines waits until a line of the log has come that ok accepts, and returns all.
func logLines(t *testing.T, c *lsptest.Client, what string, ok func(kind int, text string) bool) (all []string) {
	t.Helper()
	for n := 1; ; n++ {
		var p struct {
			Type    int
			Message string
		}
		if err := json.Unmarshal(c.Notification("window/logMessage", n), &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d %s", p.Type, p.Message))
		if ok(p.Type, p.Message) {
			return all
		}
	}
}

func TestTheLogGoesToTheClient(t *testing.T) {
	c, _ := start(t, server.Config{Analyze: func(context.Context, []analyzer.File, analyzer.Options) (*analyzer.Analysis, error) {
		return nil, errors.New("no luck")
	}})
	c.Initialize("", func(p object) { p["clientInfo"] = object{"name": "an editor", "version": "7"} })
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	got := logLines(t, c, "the failed analysis", func(_ int, text string) bool { return strings.HasPrefix(text, "analysis failed") })
	want := []string{
		"3 initialize: client an editor, client version 7, encoding utf-8",
		"1 analysis failed: uri " + logURI + ", bytes 15",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever goes wrong, no text of a document is in what goes to the client's log,
// its trace included.
func TestTheClientsLogHasNoTextOfDocuments(t *testing.T) {
	const secret = "SECRET"
	c, _ := start(t, server.Config{Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		text := make([]byte, f[0].Size)
		_, _ = f[0].Data.ReadAt(text, 0)
		switch {
		case strings.Contains(string(text), "PANIC"):
			panic(errors.New(string(text)))
		case strings.Contains(string(text), "ERROR"):
			return nil, fmt.Errorf("cannot read %s", text)
		}
		return fakeAnalysis(ctx, f, o)
	}})
	c.Initialize("", func(p object) {
		p["trace"] = "verbose"
		options(object{"collateralSeverity": secret})(p)
	})
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, "rank1 INITIATOR "+secret)
	c.Change(logURI, 2, object{"text": "PANIC " + secret})
	c.Diagnostics(logURI, 2)
	c.Change(logURI, 3, object{"text": "ERROR " + secret})
	c.Diagnostics(logURI, 3)
	c.Start("workspace/executeCommand", command(object{"text": "ERROR " + secret})).Response()
	c.Start("workspace/executeCommand", command(object{"text": "PANIC " + secret})).Response()
	c.Start("workspace/executeCommand", command(object{"text": 1, "x": secret})).Response()
	for _, note := range []string{
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x:/a","languageId":"log","version":"SECRET","text":""}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x:/a","languageId":"log","version":1,"text":["SECRET"]}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"x:/a","languageId":"log","version":1,"text":{"SECRET":1}}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"` + logURI + `","version":4},"contentChanges":[{"text":"x","range":"SECRET"}]}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"` + logURI + `","version":4},"contentChanges":"SECRET"}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didClose","params":["SECRET"]}`,
		`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":{"graphtrap":{"suppressions":["SECRET"]}}}}`,
		`{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":["SECRET"]}}`,
		`{"jsonrpc":"2.0","method":"unknown","params":["SECRET"]}`,
		`{"jsonrpc":"2.0","SECRET`,
	} {
		c.Frame(note)
	}
	c.Call("workspace/executeCommand", command(object{"text": "rank1 INITIATOR"}), nil)
	c.Open("x:/last", "log", 1, "PANIC") // its line is the last
	c.Diagnostics("x:/last", 1)
	time.Sleep(50 * time.Millisecond)
	for _, method := range []string{"window/logMessage", "$/logTrace"} {
		n := c.Count(method)
		if n < 5 {
			t.Errorf("only %d times %s", n, method)
		}
		for i := 1; i <= n; i++ {
			if line := string(c.Notification(method, i)); strings.Contains(line, secret) {
				t.Errorf("%s %s", method, line)
			}
		}
	}
	for i := 1; i <= c.Count("window/showMessage"); i++ {
		c.Notification("window/showMessage", i)
	}
}

func TestTrace(t *testing.T) {
	c := session(t, server.Config{})
	trace := func(n int) (message, verbose string) {
		t.Helper()
		var p struct{ Message, Verbose string }
		if err := json.Unmarshal(c.Notification("$/logTrace", n), &p); err != nil {
			t.Fatal(err)
		}
		return p.Message, p.Verbose
	}
	c.Call("workspace/executeCommand", command(object{"text": "x"}), nil)
	if n := c.Count("$/logTrace"); n > 0 {
		t.Errorf("%d traces before anybody asked", n)
	}
	c.Notify("$/setTrace", object{"value": "messages"})
	c.Call("workspace/executeCommand", command(object{"text": "x"}), nil)
	if message, _ := trace(1); !strings.HasPrefix(message, "notification $/setTrace handled in ") {
		t.Errorf("trace %q", message)
	}
	if message, verbose := trace(2); !strings.HasPrefix(message, "request workspace/executeCommand answered in ") || !strings.HasSuffix(message, " ms") || verbose != "" {
		t.Errorf("trace %q, %q", message, verbose)
	}
	c.Notify("$/setTrace", object{"value": "verbose"})
	c.Fails(-32601, "no/such/method", object{"x": 1})
	if message, verbose := trace(4); !strings.HasPrefix(message, "request no/such/method refused in ") || verbose != "params of 7 bytes" {
		t.Errorf("trace %q, %q", message, verbose)
	}
	for _, value := range []any{"off", "nonsense", nil} {
		c.Notify("$/setTrace", object{"value": value})
		c.Call("workspace/executeCommand", command(object{"text": "x"}), nil)
	}
	if n := c.Count("$/logTrace"); n > 4 {
		t.Errorf("%d traces after they were turned off", n)
	}
}

// A client that does not read holds up no logging, and is told what it missed.
func TestAClientThatDoesNotReadItsLog(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := server.New(server.Config{Log: zap.NewNop(), Version: "test", Analyze: fakeAnalysis})
	done := make(chan int, 1)
	go func() { done <- s.Serve(t.Context(), in, out) }()
	send := func(body string) {
		t.Helper()
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			fmt.Fprintf(toServer, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}()
		select {
		case <-finished:
		case <-time.After(lsptest.Patience):
			t.Fatal("the server does not read any more")
		}
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)
	read := make(chan string, 10_000)
	gate := make(chan struct{})
	go func() {
		defer close(read)
		buffer := make([]byte, 1<<16)
		n, err := fromServer.Read(buffer) // the answer to initialize
		for first := true; err == nil; first = false {
			read <- string(buffer[:n])
			if first {
				<-gate
			}
			n, err = fromServer.Read(buffer)
		}
	}()
	<-read
	send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	for range 5000 { // each logs a line
		send(`{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"x:/never"}}}`)
	}
	close(gate)
	lost := false
	for limit := time.After(lsptest.Patience); !lost; {
		select {
		case text := <-read:
			lost = strings.Contains(text, "lines of the log were dropped")
		case <-limit:
			t.Fatal("nothing was said of lines that were dropped")
		}
	}
	toServer.Close()
	go func() {
		for range read {
		}
	}()
	select {
	case <-done:
	case <-time.After(lsptest.Patience):
		t.Error("the server did not end")
	}
	fromServer.Close()
}
