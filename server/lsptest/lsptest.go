// Package lsptest is an editor for tests: it speaks the protocol to a server in the
// same process ([Run]) or to a program ([Start]), waits for what it expects instead
// of sleeping, answers what the server asks ([Client.Answer]), and checks at the
// end that every request got exactly one response and that no message was left
// unread. [Cases] runs whole conversations from files.
package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Patience is how long the client waits for anything, unless it is to [Client.Hurry].
const Patience = 20 * time.Second

// Object is a JSON object.
type Object = map[string]any

// Client is the editor. Its methods fail the test when the server does not do
// what they wait for.
type Client struct {
	t   testing.TB
	in  io.WriteCloser
	out io.Closer

	write sync.Mutex

	mu        sync.Mutex
	changed   chan struct{} // closed and made anew at each arrival
	nextID    int
	responses map[string][]Message
	asked     map[string]bool
	notes     []Message
	// read tells of each of the notes whether the test has looked at it.
	read    []bool
	strict  bool
	ignored map[string]bool
	answers map[string]func(json.RawMessage) any
	ended   error
	// answering are the answers that are being written.
	answering sync.WaitGroup
	process   *os.Process
	patience  time.Duration
}

// Hurry makes the client wait no longer than that for anything: for tests of what
// does not come.
func (c *Client) Hurry(patience time.Duration) { c.patience = patience }

// Message is one that the server sent.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *ResponseError  `json:"error"`
}

// ResponseError is the error of a response.
type ResponseError struct {
	Code    jsonrpc2.Code   `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Connect makes a client that writes to in and reads from out. Both are closed
// when the test ends.
func Connect(t testing.TB, in io.WriteCloser, out io.ReadCloser) *Client {
	c := &Client{
		t: t, in: in, out: out, patience: Patience, changed: make(chan struct{}),
		responses: map[string][]Message{}, asked: map[string]bool{}, answers: map[string]func(json.RawMessage) any{},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.receive(bufio.NewReader(out))
	}()
	t.Cleanup(func() {
		c.in.Close()
		select {
		case <-done:
		case <-time.After(c.patience):
			t.Error("the server did not close its output")
			c.out.Close()
		}
		c.answering.Wait()
		c.checkResponses()
		c.checkRead()
	})
	return c
}

// Run connects a client to a server in this process. The function gets the
// server's input and output, which are pipes of the operating system, and returns
// its exit status, which the returned function waits for.
func Run(t testing.TB, serve func(in io.Reader, out io.Writer) int) (c *Client, status func() int) {
	serverIn, clientOut := pipe(t)
	clientIn, serverOut := pipe(t)
	code := make(chan int, 1)
	go func() {
		n := serve(serverIn, serverOut)
		serverOut.Close()
		code <- n
	}()
	t.Cleanup(func() { serverIn.Close() })
	return Connect(t, clientOut, clientIn), func() int {
		select {
		case n := <-code:
			return n
		case <-time.After(Patience):
			t.Fatal("the server did not end")
			return -1
		}
	}
}

func pipe(t testing.TB) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

func (c *Client) receive(r *bufio.Reader) {
	for {
		m, err := next(r)
		c.mu.Lock()
		switch {
		case err != nil:
			c.ended = err
		case m.Method == "":
			c.responses[string(m.ID)] = append(c.responses[string(m.ID)], m)
		default:
			c.notes, c.read = append(c.notes, m), append(c.read, false)
			if m.ID != nil {
				c.answering.Add(1)
				go c.answer(m, c.answers[m.Method])
			}
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func next(r *bufio.Reader) (m Message, err error) {
	size := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if k, v, _ := strings.Cut(line, ":"); strings.EqualFold(k, "Content-Length") {
			if size, err = strconv.Atoi(strings.TrimSpace(v)); err != nil {
				return m, err
			}
		} else {
			return m, fmt.Errorf("unexpected header %q", line)
		}
	}
	if size < 0 {
		return m, fmt.Errorf("a message without Content-Length")
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

// checkResponses fails the test for responses that no request asked for, and for
// a second one to the same request.
func (c *Client) checkResponses() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, got := range c.responses {
		if id != "null" && !c.asked[id] {
			c.t.Errorf("a response to %s, which was not asked", id)
		}
		if id != "null" && len(got) > 1 {
			c.t.Errorf("%d responses to %s", len(got), id)
		}
	}
}

// Answer has f answer the server's requests of a method, of which it gets the
// params. What f returns is the result; a *[jsonrpc2.Error] is an error, [Silence]
// no answer at all. Requests that nobody answers get null as their result. It must
// be called before the server can ask.
func (c *Client) Answer(method string, f func(params json.RawMessage) any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[method] = f
}

// Silence is the answer of an editor that does not answer.
type Silence struct{}

func (c *Client) answer(m Message, f func(json.RawMessage) any) {
	defer c.answering.Done()
	var result any
	if f != nil {
		result = f(m.Params)
	}
	response := Object{"jsonrpc": "2.0", "id": m.ID, "result": result}
	switch r := result.(type) {
	case Silence:
		return
	case *jsonrpc2.Error:
		response = Object{"jsonrpc": "2.0", "id": m.ID, "error": r}
	}
	body, err := json.Marshal(response)
	if err != nil {
		c.t.Errorf("answering %s: %v", m.Method, err)
		return
	}
	c.write.Lock()
	defer c.write.Unlock()
	// The server may be gone by now; then nobody misses the answer.
	_, _ = fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// Strict makes unread diagnostics a failure as well.
func (c *Client) Strict() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strict = true
}

// lenient are the messages that may stay unread unless the client is strict:
// diagnostics, which replace each other. logged may always stay unread: the log, and
// that the server gave up a request of its own.
var (
	lenient = map[string]bool{"textDocument/publishDiagnostics": true}
	logged  = map[string]bool{"window/logMessage": true, "$/logTrace": true, "$/cancelRequest": true}
)

// Ignore lets messages of these methods stay unread.
func (c *Client) Ignore(methods ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ignored == nil {
		c.ignored = map[string]bool{}
	}
	for _, m := range methods {
		c.ignored[m] = true
	}
}

// checkRead fails the test for messages that nobody looked at.
func (c *Client) checkRead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.t.Failed() {
		return // it did not get so far
	}
	for i, m := range c.notes {
		if !c.read[i] && !logged[m.Method] && !c.ignored[m.Method] && (c.strict || !lenient[m.Method]) {
			c.t.Errorf("the test did not look at %s %s", m.Method, m.Params)
		}
	}
}

// await waits until ok does, which is called with the lock held.
func (c *Client) await(what string, ok func() bool) {
	c.t.Helper()
	limit := time.After(c.patience)
	for {
		c.mu.Lock()
		done, changed, ended := ok(), c.changed, c.ended
		c.mu.Unlock()
		if done {
			return
		}
		if ended != nil {
			c.t.Fatalf("waiting for %s: the server's output ended: %v", what, ended)
		}
		select {
		case <-changed:
		case <-limit:
			c.t.Fatalf("no %s within %v", what, c.patience)
		}
	}
}

// Await waits until ok does, which gets the responses so far by the JSON of their ids.
func (c *Client) Await(what string, ok func(responses map[string][]Message) bool) {
	c.t.Helper()
	c.await(what, func() bool { return ok(c.responses) })
}

// Ended waits until the server has closed its output.
func (c *Client) Ended() {
	c.t.Helper()
	limit := time.After(c.patience)
	for {
		c.mu.Lock()
		ended, changed := c.ended, c.changed
		c.mu.Unlock()
		if ended != nil {
			return
		}
		select {
		case <-changed:
		case <-limit:
			c.t.Fatalf("the server's output is open after %v", c.patience)
		}
	}
}

// Raw writes bytes as they are.
func (c *Client) Raw(text string) {
	c.t.Helper()
	c.write.Lock()
	defer c.write.Unlock()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.t.Fatalf("writing to the server: %v", err)
	}
}

// Frame writes one message, well-formed or not.
func (c *Client) Frame(body string) {
	c.t.Helper()
	c.Raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) {
	c.t.Helper()
	c.Frame(c.encode(Object{"jsonrpc": "2.0", "method": method, "params": params}))
}

func (c *Client) encode(v any) string {
	c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// Pending is a request whose response is not here yet.
type Pending struct {
	c      *Client
	ID     int
	method string
}

// Start sends a request and does not wait.
func (c *Client) Start(method string, params any) Pending {
	c.t.Helper()
	c.mu.Lock()
	c.nextID++
	p := Pending{c, c.nextID, method}
	c.asked[strconv.Itoa(p.ID)] = true
	c.mu.Unlock()
	message := Object{"jsonrpc": "2.0", "id": p.ID, "method": method}
	if params != nil {
		message["params"] = params
	}
	c.Frame(c.encode(message))
	return p
}

// Response waits for the response.
func (p Pending) Response() Message {
	p.c.t.Helper()
	return p.c.Response(strconv.Itoa(p.ID), p.method)
}

// Cancel asks the server to give up.
func (p Pending) Cancel() {
	p.c.t.Helper()
	p.c.Notify("$/cancelRequest", Object{"id": p.ID})
}

// Response waits for the response to a request that [Client.Frame] sent; id is
// its JSON.
func (c *Client) Response(id, what string) (m Message) {
	c.t.Helper()
	c.mu.Lock()
	c.asked[id] = true
	c.mu.Unlock()
	c.await("response to "+what, func() bool {
		if got := c.responses[id]; len(got) > 0 {
			m = got[0]
			return true
		}
		return false
	})
	return m
}

// Forget forgets a response, so that another one to the same id can be waited for.
func (c *Client) Forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.responses, id)
}

// Call sends a request, waits, and decodes the result. It fails the test when the
// response is an error.
func (c *Client) Call(method string, params, result any) {
	c.t.Helper()
	m := c.Start(method, params).Response()
	if m.Error != nil {
		c.t.Fatalf("%s: error %d: %s", method, m.Error.Code, m.Error.Message)
	}
	if result != nil {
		if err := protocol.Unmarshal(m.Result, result); err != nil {
			c.t.Fatalf("%s: result %s: %v", method, m.Result, err)
		}
	}
}

// Fails sends a request and checks that the response is an error of this code. It
// returns the error's message.
func (c *Client) Fails(code jsonrpc2.Code, method string, params any) string {
	c.t.Helper()
	m := c.Start(method, params).Response()
	if m.Error == nil || m.Error.Code != code {
		c.t.Fatalf("%s: got error %+v and result %s, want error %d", method, m.Error, m.Result, code)
	}
	return m.Error.Message
}

// Errors waits for the nth answer to a message whose id could not be read, and
// returns its error.
func (c *Client) Errors(n int) (e *ResponseError) {
	c.t.Helper()
	c.await("error without an id", func() bool {
		if got := c.responses["null"]; len(got) >= n {
			e = got[n-1].Error
			return true
		}
		return false
	})
	return e
}

// Initialize starts the session and says what this editor can do, which is
// everything unless change says otherwise.
func (c *Client) Initialize(folder string, change func(params Object)) (result protocol.InitializeResult) {
	c.t.Helper()
	params := Params(folder)
	if change != nil {
		change(params)
	}
	c.Call("initialize", params, &result)
	c.Notify("initialized", Object{})
	return result
}

// Pull makes the params of initialize those of an editor that asks for diagnostics.
func Pull(params Object) {
	Set(params, Object{"dynamicRegistration": false, "relatedDocumentSupport": true}, "capabilities", "textDocument", "diagnostic")
	Set(params, Object{"refreshSupport": true}, "capabilities", "workspace", "diagnostics")
}

// Params are the params of initialize of an editor that can do everything.
// folder is a URI; empty means that there is none.
func Params(folder string) Object {
	params := Object{
		"processId": os.Getpid(), "rootUri": nil, "clientInfo": Object{"name": "lsptest"},
		"capabilities": Object{
			"general": Object{"positionEncodings": []string{"utf-16", "utf-8"}},
			"textDocument": Object{
				"publishDiagnostics": Object{
					"relatedInformation": true, "versionSupport": true,
					"tagSupport": Object{"valueSet": []int{1, 2}},
				},
				"hover":     Object{"contentFormat": []string{"markdown", "plaintext"}},
				"inlayHint": Object{"dynamicRegistration": false},
				"semanticTokens": Object{
					"requests": Object{"full": Object{"delta": true}, "range": true}, "formats": []string{"relative"},
					"tokenTypes": []string{"type", "keyword", "string", "number", "comment"}, "tokenModifiers": []string{},
				},
				"codeAction": Object{
					"isPreferredSupport": true, "dataSupport": true, "honorsChangeAnnotations": true,
					"resolveSupport":           Object{"properties": []string{"edit"}},
					"codeActionLiteralSupport": Object{"codeActionKind": Object{"valueSet": []string{"quickfix"}}},
				},
			},
			"workspace": Object{"workspaceEdit": Object{
				"documentChanges": true, "snippetEditSupport": true,
				"changeAnnotationSupport": Object{"groupsOnLabel": false},
			}},
		},
	}
	if folder != "" {
		params["workspaceFolders"] = []Object{{"uri": folder, "name": "workspace"}}
	}
	return params
}

// Set sets a value deep inside an object; a nil value removes it.
func Set(o Object, value any, path ...string) {
	for _, key := range path[:len(path)-1] {
		inner, ok := o[key].(Object)
		if !ok {
			inner = Object{}
			o[key] = inner
		}
		o = inner
	}
	if key := path[len(path)-1]; value == nil {
		delete(o, key)
	} else {
		o[key] = value
	}
}

// Open opens a document.
func (c *Client) Open(uri, language string, version int, text string) {
	c.t.Helper()
	c.Notify("textDocument/didOpen", Object{"textDocument": Object{
		"uri": uri, "languageId": language, "version": version, "text": text,
	}})
}

// Change sends changes of a document, as JSON objects.
func (c *Client) Change(uri string, version int, changes ...Object) {
	c.t.Helper()
	c.Notify("textDocument/didChange", Object{
		"textDocument": Object{"uri": uri, "version": version}, "contentChanges": changes,
	})
}

// Close closes a document.
func (c *Client) Close(uri string) {
	c.t.Helper()
	c.Notify("textDocument/didClose", Object{"textDocument": Object{"uri": uri}})
}

// Span is a range.
func Span(startLine, startCharacter, endLine, endCharacter int) Object {
	return Object{
		"start": Object{"line": startLine, "character": startCharacter},
		"end":   Object{"line": endLine, "character": endCharacter},
	}
}

// Diagnostics waits for the diagnostics of a version and returns them.
func (c *Client) Diagnostics(uri string, version int32) (found []protocol.Diagnostic) {
	c.t.Helper()
	c.await(fmt.Sprintf("diagnostics of %s, version %d", uri, version), func() bool {
		for _, p := range c.published(uri) {
			if v, ok := p.Version.Get(); ok && v == version {
				found = p.Diagnostics
				return true
			}
		}
		return false
	})
	return found
}

// Cleared waits until the last thing said of a document is that it has no
// diagnostics, without a version.
func (c *Client) Cleared(uri string) {
	c.t.Helper()
	c.await("clearing of "+uri, func() bool {
		list := c.published(uri)
		if len(list) == 0 {
			return false
		}
		last := list[len(list)-1]
		_, versioned := last.Version.Get()
		return len(last.Diagnostics) == 0 && !versioned
	})
}

// Publications are all the diagnostics that came for a document so far.
func (c *Client) Publications(uri string) []protocol.PublishDiagnosticsParams {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.published(uri)
}

func (c *Client) published(uri string) (list []protocol.PublishDiagnosticsParams) {
	for i, m := range c.notes {
		if m.Method != "textDocument/publishDiagnostics" {
			continue
		}
		var raw struct{ URI string }
		if json.Unmarshal(m.Params, &raw) != nil || raw.URI != uri {
			continue
		}
		c.read[i] = true
		var p protocol.PublishDiagnosticsParams
		if err := protocol.Unmarshal(m.Params, &p); err != nil {
			c.t.Errorf("diagnostics %s: %v", m.Params, err)
			continue
		}
		list = append(list, p)
	}
	return list
}

// Notification waits for the nth message of a method, counted from 1, and returns
// its params. The server's requests count as well.
func (c *Client) Notification(method string, n int) (params json.RawMessage) {
	c.t.Helper()
	c.await(method, func() bool {
		left := n
		for i, m := range c.notes {
			if m.Method == method {
				if left--; left == 0 {
					params, c.read[i] = m.Params, true
					return true
				}
			}
		}
		return false
	})
	return params
}

// Count is how many messages of a method came so far. It counts as looking at them.
func (c *Client) Count(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for i, m := range c.notes {
		if m.Method == method {
			n, c.read[i] = n+1, true
		}
	}
	return n
}

// Discard forgets all messages so far, and the requests that they answer, once. A
// long test would otherwise keep them all.
func (c *Client) Discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes, c.read = nil, nil
	for id, got := range c.responses {
		if len(got) == 1 && c.asked[id] {
			delete(c.responses, id)
			delete(c.asked, id)
		}
	}
}

// Shutdown ends the session in the right way: every request that was sent must
// have its response before the server is told to exit.
func (c *Client) Shutdown() {
	c.t.Helper()
	c.Call("shutdown", nil, nil)
	c.await("response to each request", func() bool {
		for id := range c.asked {
			if len(c.responses[id]) == 0 {
				return false
			}
		}
		return true
	})
	c.Notify("exit", nil)
}

// Hang closes the client's end of the server's input.
func (c *Client) Hang() { c.in.Close() }

// Deafen closes the client's end of the server's output.
func (c *Client) Deafen() { c.out.Close() }
