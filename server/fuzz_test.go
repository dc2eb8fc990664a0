package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/position"
)

// choices are the bytes of a fuzzer, read as decisions. When they are used up the
// decision is always the first.
type choices []byte

// below is a number from 0 to n-1.
func (c *choices) below(n int) int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b) % n
}

// number is any number that a client might send.
func (c *choices) number() uint32 {
	switch c.below(8) {
	case 0:
		return uint32(c.below(256))<<24 | uint32(c.below(256))<<8 | uint32(c.below(256))
	case 1:
		return 1<<31 - 1
	case 2:
		return 1<<32 - 1
	}
	return uint32(c.below(24))
}

// bytes are the next ones, at most n.
func (c *choices) bytes(n int) []byte {
	n = min(c.below(n+1), len(*c))
	b := (*c)[:n]
	*c = (*c)[n:]
	return b
}

// conversation is what a client says, and how often each request must be answered.
type conversation struct {
	said bytes.Buffer
	// due counts the responses by the JSON of their ids.
	due map[string]int
	// over is set once exit was said: from then on no answer is due.
	over bool
}

func (c *conversation) frame(body []byte) {
	fmt.Fprintf(&c.said, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (c *conversation) notify(method string, params any) {
	c.frame(encode(object{"jsonrpc": "2.0", "method": method, "params": params}))
	c.over = c.over || method == "exit"
}

func (c *conversation) ask(id any, method string, params any) {
	c.frame(encode(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
	if c.due == nil {
		c.due = map[string]int{}
	}
	c.due[string(encode(id))]++
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a value of the test's own
	}
	return b
}

// exchange is a server's input and output for one conversation: when all was read,
// the input stays open until all that is due was written.
type exchange struct {
	mu        sync.Mutex
	said      io.Reader
	due       map[string]int
	responses map[string][]json.RawMessage
	complete  chan struct{}
	lost      bool
}

// patience is how long a response may take; a fuzzer's machine may be busy.
const patience = 30 * time.Second

// Read implements io.Reader.
func (e *exchange) Read(p []byte) (int, error) {
	n, err := e.said.Read(p)
	if errors.Is(err, io.EOF) {
		select {
		case <-e.complete:
		case <-time.After(patience):
			e.lost = true
		}
	}
	return n, err
}

// Write implements io.Writer. The server writes a whole message at a time.
func (e *exchange) Write(p []byte) (int, error) {
	_, body, _ := bytes.Cut(p, []byte("\r\n\r\n"))
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(body, &m) != nil || m.ID == nil || m.Method != "" {
		return len(p), nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	id := string(m.ID)
	e.responses[id] = append(e.responses[id], bytes.Clone(body))
	e.settle()
	return len(p), nil
}

// settle ends the wait when nothing is due any more.
func (e *exchange) settle() {
	for id, n := range e.due {
		if len(e.responses[id]) < n {
			return
		}
	}
	select {
	case <-e.complete:
	default:
		close(e.complete)
	}
}

// converse has a server hold the conversation and end. It fails the test for a
// panic, a hang, a response that is lost and one that nobody asked for.
func converse(t *testing.T, config server.Config, c *conversation) map[string][]json.RawMessage {
	t.Helper()
	core, logs := observer.New(zap.ErrorLevel)
	config.Log = zap.New(core)
	if config.Debounce == 0 {
		config.Debounce = time.Nanosecond
	}
	e := &exchange{said: &c.said, due: c.due, responses: map[string][]json.RawMessage{}, complete: make(chan struct{})}
	if c.over {
		close(e.complete)
	} else {
		e.settle()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.New(config).Serve(context.Background(), e, e)
	}()
	select {
	case <-ended:
	case <-time.After(2 * patience):
		stacks := make([]byte, 1<<20)
		t.Fatalf("the server does not end:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	for _, entry := range logs.FilterMessage("panic").All() {
		t.Fatalf("panic in %v: %v\n%s", entry.ContextMap()["in"], entry.ContextMap()["kind"], entry.ContextMap()["stack"])
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, n := range c.due {
		if got := len(e.responses[id]); got > n || got < n && !c.over {
			t.Fatalf("%d responses to %s, want %d", got, id, n)
		}
	}
	if e.lost {
		t.Fatal("the responses are there, but late")
	}
	return e.responses
}

// FuzzDocumentSync makes any changes to a document, in each encoding, and compares
// the server's text with one that was changed in the simplest way.
func FuzzDocumentSync(f *testing.F) {
	f.Add([]byte("\x00\x00a\r\nb"))
	f.Add([]byte{1, 0, 5, 'a', 0xc3, 0xa9, '\r', '\n', 2, 1, 3, 0, 3, 1, 3, 0, 3, 2, 2, 'x', '\n'})
	f.Add([]byte("\x02\x01\x14one\rtwo\r\nthree\n\xf0\x9f\x98\x80\x03\x01\x07\x02\x07\x01\x07\x02\x07\x03\x02\r\n"))
	f.Add([]byte("\x00\x00\x0a\xf0\x9f\x98\x80\xf0\x9f\x98\x80ab\x02\x01\x07\x00\x07\x01\x07\x00\x07\x03\x01z"))
	f.Fuzz(func(t *testing.T, input []byte) {
		c := choices(input)
		encoding := []protocol.PositionEncodingKind{"utf-16", "utf-8", "utf-32"}[c.below(3)]
		editor := []string{"any", "Neovim"}[c.below(2)] // which does not end lines at a lone CR
		model := strings.ToValidUTF8(string(c.bytes(40)), "\ufffd")
		var said conversation
		said.ask("start", "initialize", object{
			"processId": nil, "rootUri": nil, "clientInfo": object{"name": editor},
			"capabilities": object{"general": object{"positionEncodings": []string{string(encoding)}}},
		})
		open := func(version int) {
			said.notify("textDocument/didOpen", object{"textDocument": object{"uri": logURI, "languageId": "log", "version": version, "text": model}})
		}
		open(0)
		var want []string
		for version := 1; len(c) > 0 && version < 40; version++ {
			var changes []object
			for range 1 + c.below(3) {
				insert := strings.ToValidUTF8(string(c.bytes(12)), "\ufffd")
				if c.below(6) == 0 {
					model = insert
					changes = append(changes, object{"text": insert})
					continue
				}
				a, b := [2]uint32{c.number(), c.number()}, [2]uint32{c.number(), c.number()}
				if slices.Compare(b[:], a[:]) < 0 {
					a, b = b, a
				}
				from, to := simpleOffset(model, encoding, editor, a[0], a[1]), simpleOffset(model, encoding, editor, b[0], b[1])
				model = model[:from] + insert + model[to:]
				changes = append(changes, object{"range": object{
					"start": object{"line": a[0], "character": a[1]}, "end": object{"line": b[0], "character": b[1]},
				}, "text": insert})
			}
			said.notify("textDocument/didChange", object{"textDocument": object{"uri": logURI, "version": version}, "contentChanges": changes})
			switch c.below(8) {
			case 0:
				said.notify("textDocument/didClose", object{"textDocument": object{"uri": logURI}})
				open(version + 1)
			case 1, 2:
				said.ask(fmt.Sprint(len(want)), "workspace/executeCommand", command(object{"uri": logURI}))
				want = append(want, model)
			}
		}
		said.ask(fmt.Sprint(len(want)), "workspace/executeCommand", command(object{"uri": logURI}))
		want = append(want, model)
		got := converse(t, server.Config{Analyze: fakeAnalysis}, &said)
		for i, text := range want {
			var m struct {
				Result struct{ Verdict struct{ Summary string } }
				Error  *struct{ Message string }
			}
			if err := json.Unmarshal(got[fmt.Sprintf("%q", fmt.Sprint(i))][0], &m); err != nil || m.Error != nil {
				t.Fatalf("%v %+v", err, m.Error)
			}
			if m.Result.Verdict.Summary != text {
				t.Fatalf("%s, %s: the text is %q, want %q", encoding, editor, m.Result.Verdict.Summary, text)
			}
		}
	})
}

// simpleOffset finds a position by going through the text, character by character.
func simpleOffset(text string, encoding protocol.PositionEncodingKind, editor string, line, column uint32) int {
	at := 0
	ends := func(i int) (size int) { // of the end of a line at i, 0 for none
		switch {
		case strings.HasPrefix(text[i:], "\r\n"):
			return 2
		case text[i] == '\n', text[i] == '\r' && editor != "Neovim":
			return 1
		}
		return 0
	}
	for ; line > 0; line-- {
		for at < len(text) && ends(at) == 0 {
			at++
		}
		if at == len(text) {
			return at
		}
		at += ends(at)
	}
	for left := uint64(column); at < len(text) && ends(at) == 0; {
		r, size := utf8.DecodeRuneInString(text[at:])
		units := uint64(1)
		switch {
		case encoding == "utf-8":
			units = uint64(size)
		case encoding == "utf-16" && r > 0xffff:
			units = 2
		}
		if left < units {
			break
		}
		left -= units
		at += size
	}
	return at
}

// hostileLog is a log that has something of everything that is shown.
var hostileLog = "start\r\n  0%|          | 0/3\r 33%|███▍      | 1/3\r100%|██████████| 3/3\r\n" +
	"\x1b[36m[rank0]:\x1b[0m 日本 🙂 memory (MB) | allocated: 31013.5 | reserved: 33013.2\n" + captureLog +
	"[rank0]:[E1128 04:23:21.120000001 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=52428800, NumelOut=52428800, Timeout(ms)=600000) ran for 600009 milliseconds before timing out.\n" +
	strings.Repeat("same line again\n", 6)

// positional are the requests about a place, a range or the whole of a document.
var positional = []string{
	"textDocument/hover", "textDocument/definition", "textDocument/references", "textDocument/documentHighlight", "textDocument/codeAction",
	"textDocument/inlayHint", "textDocument/semanticTokens/range", "textDocument/semanticTokens/full", "textDocument/documentSymbol",
	"textDocument/foldingRange", "textDocument/documentLink", "textDocument/codeLens", "textDocument/diagnostic", "workspace/diagnostic",
	"workspace/symbol", "workspace/textDocumentContent", "codeAction/resolve", "workspace/executeCommand",
}

// FuzzPositions asks everything at any place of any text, with the real analysis:
// each request has one answer, no answer is an internal error, and whatever place
// an answer names lies in the text.
func FuzzPositions(f *testing.F) {
	for i := range positional {
		f.Add(byte(i), uint32(7), uint32(20), uint32(7), uint32(40), byte(i), "")
		f.Add(byte(i), uint32(1<<32-1), uint32(1<<31), uint32(0), uint32(0), byte(i), "rank1 é😀\r\r\n\x00\x1b[")
	}
	f.Fuzz(func(t *testing.T, method byte, startLine, startCharacter, endLine, endCharacter uint32, more byte, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		switch more % 3 {
		case 0:
			text = hostileLog + text
		case 1:
			text += "\n" + hostileLog
		}
		encoding := []protocol.PositionEncodingKind{"utf-8", "utf-16", "utf-32"}[more/3%3]
		name := positional[int(method)%len(positional)]
		var said conversation
		said.ask("start", "initialize", object{
			"processId": nil, "rootUri": nil, "initializationOptions": object{"semanticTokens": true},
			"capabilities": object{
				"general": object{"positionEncodings": []string{string(encoding)}},
				"textDocument": object{
					"documentSymbol": object{"hierarchicalDocumentSymbolSupport": more%2 == 0},
					"definition":     object{"linkSupport": more%2 == 0},
					"foldingRange":   object{"lineFoldingOnly": more%2 == 0},
				},
			},
		})
		said.notify("textDocument/didOpen", object{"textDocument": object{"uri": logURI, "languageId": "log", "version": 1, "text": text}})
		place := object{"line": startLine, "character": startCharacter}
		span := object{"start": place, "end": object{"line": endLine, "character": endCharacter}}
		params := object{
			"textDocument": object{"uri": logURI}, "position": place, "range": span, "query": text[:min(len(text), int(more))],
			"context": object{"diagnostics": []object{}, "includeDeclaration": more%2 == 0}, "previousResultIds": []object{}, "uri": logURI,
			"title": "x", "data": object{"log": logURI, "uri": logURI, "line": startLine, "fix": more},
			"command":   []string{"graphtrap.diagnose", "graphtrap.report", "graphtrap.explain", "graphtrap.debugInfo", "graphtrap.fix", "graphtrap.openReport"}[more%6],
			"arguments": []any{object{"uri": logURI, "range": span, "line": startLine}},
		}
		said.ask("it", name, params)
		said.ask("again", name, params)
		got := converse(t, server.Config{Analyze: realAnalysis}, &said)
		var m struct {
			Result any
			Error  *struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(got[`"it"`][0], &m); err != nil {
			t.Fatal(err)
		}
		if m.Error != nil && m.Error.Code != -32602 && m.Error.Code != -32803 && m.Error.Code != -32601 {
			t.Fatalf("%s: error %d: %s", name, m.Error.Code, m.Error.Message)
		}
		if name != "workspace/executeCommand" && name != "codeAction/resolve" {
			inside(t, name, m.Result, position.New([]byte(text), position.Convention{Encoding: encoding}))
		}
	})
}

// inside checks that all places in a result lie in the text.
func inside(t *testing.T, method string, result any, text *position.Text) {
	t.Helper()
	switch v := result.(type) {
	case []any:
		for _, item := range v {
			inside(t, method, item, text)
		}
	case object:
		if line, ok := v["line"].(float64); ok {
			if character, ok := v["character"].(float64); ok {
				p := protocol.Position{Line: uint32(line), Character: uint32(character)}
				if text.Position(text.Offset(p)) != p {
					t.Fatalf("%s: %+v is no place in the text", method, p)
				}
			}
		}
		for _, name := range []string{"startLine", "endLine"} {
			if line, ok := v[name].(float64); ok && int(line) >= text.Lines() {
				t.Fatalf("%s: %s %v of a text of %d lines", method, name, line, text.Lines())
			}
		}
		for _, inner := range v {
			inside(t, method, inner, text)
		}
	}
}

// FuzzMessages says anything in any order: lifecycle messages early, late and twice,
// ids in flight once more, cancellations, answers that nobody asked for, and garbage.
func FuzzMessages(f *testing.F) {
	f.Add([]byte{0, 0, 1, 4, 0, 6, 9, 12, 2, 3})
	f.Add([]byte{9, 2, 3, 0, 0, 0, 0, 4, 0, 5, 5, 9, 10, 8, 2, 2, 9, 3, 9})
	f.Add([]byte{0, 1, 1, 4, 1, 4, 1, 9, 9, 11, 9, 11, 7, 1, 7, 1, 14, 3, 20, '{', '}', 13, 15, 16, 17, 2, 9})
	f.Add([]byte("\x00\x02\x01\x04\x00\x09\x00\x09\x01\x09\x02\x09\x03\x0a\x09\x04\x0c\x03\x0e\x09[{\"jsonrpc\":\"2.0\"}]\x02\x03"))
	f.Add([]byte{0, 3, 1, 4, 0, 18, 18, 5, 0, 18, 0, 6, 0, 18, 0, 2, 3})
	f.Fuzz(func(t *testing.T, input []byte) {
		c := choices(input)
		said := &conversation{}
		asked := 0
		for len(c) > 0 && asked < 60 {
			say(&c, said, &asked)
		}
		said.ask("end", "shutdown", nil) // sets free what waits for news
		converse(t, server.Config{Analyze: fakeAnalysis}, said)
	})
}

// say says one thing.
func say(c *choices, said *conversation, asked *int) {
	uris := []string{logURI, "untitled:Untitled-1", "file:///w/other.log", "oil:///w/x.log", "", "not a uri", "x:\x01"}
	document := object{"uri": uris[c.below(len(uris))]}
	ask := func(method string, params any) {
		*asked++
		said.ask(fmt.Sprint("q", *asked), method, params)
	}
	switch c.below(20) {
	case 0:
		capabilities := []object{
			{},
			{"workspace": object{"configuration": true, "didChangeConfiguration": object{"dynamicRegistration": true}, "codeLens": object{"refreshSupport": true}}},
			{"textDocument": object{"diagnostic": object{}}, "workspace": object{"diagnostics": object{"refreshSupport": true}}},
			{"window": object{"workDoneProgress": true}, "general": object{"positionEncodings": []any{"utf-32", 5}}},
			{"textDocument": 5, "workspace": object{"workspaceEdit": []int{1}}},
		}
		ask("initialize", object{"processId": nil, "rootUri": nil, "capabilities": capabilities[c.below(len(capabilities))]})
	case 1:
		said.notify("initialized", []any{object{}, nil, []any{}}[c.below(3)])
	case 2:
		ask("shutdown", nil)
	case 3:
		if c.below(4) == 0 { // not too often: nothing is due behind it
			said.notify("exit", nil)
		}
	case 4:
		document["languageId"], document["version"] = []string{"log", "plaintext", "python"}[c.below(3)], c.below(5)
		document["text"] = []string{"rank1 INITIATOR\nrank2 COLLATERAL x\n", "", "UNDETERMINED\nrank0 COLLATERAL waited\r\r\n", captureLog}[c.below(4)]
		said.notify("textDocument/didOpen", object{"textDocument": document})
	case 5:
		document["version"] = c.below(9)
		place := func() object { return object{"line": c.number(), "character": c.number()} }
		change := []any{
			object{"text": strings.ToValidUTF8(string(c.bytes(9)), "?")}, object{"range": object{"start": place(), "end": place()}, "text": "rank3 ECHO y\n"},
			object{}, object{"range": 5, "text": "x"}, 7,
		}[c.below(5)]
		said.notify("textDocument/didChange", object{"textDocument": document, "contentChanges": []any{change}})
	case 6:
		said.notify("textDocument/didClose", object{"textDocument": document})
	case 7:
		said.notify("workspace/didChangeConfiguration", object{"settings": []any{object{"graphtrap": object{"collateralSeverity": "warning"}}, object{"graphtrap": 5}, nil, "x"}[c.below(4)]})
	case 8:
		said.notify("$/setTrace", object{"value": []any{"off", "verbose", 5}[c.below(3)]})
	case 9:
		ask(positional[c.below(len(positional))], object{
			"textDocument": document, "position": object{"line": c.number(), "character": c.number()}, "query": "r", "uri": document["uri"],
			"range":   object{"start": object{"line": 0, "character": 0}, "end": object{"line": c.number(), "character": 0}},
			"context": object{"diagnostics": []object{}, "includeDeclaration": true}, "previousResultIds": []object{{"uri": document["uri"], "value": "x"}},
			"title": "x", "data": object{"log": document["uri"]}, "command": "graphtrap.diagnose", "arguments": []object{{"uri": document["uri"]}},
		})
	case 10: // cancels one that is in flight, or was, or never will be
		said.notify("$/cancelRequest", object{"id": []any{fmt.Sprint("q", *asked), fmt.Sprint("q", c.below(9)), -1, nil, object{}, 1 << 40}[c.below(6)]})
	case 11: // an id once more
		said.ask(fmt.Sprint("q", max(1, *asked)), "workspace/executeCommand", command(object{"text": "x"}))
		*asked = max(1, *asked)
	case 12:
		ask([]string{"graphtrap/unknown", "$/unknown", "textDocument/didOpen", "initialized", "exit", ""}[c.below(6)], []any{nil, object{}, []any{}, "x"}[c.below(4)])
	case 13:
		said.notify([]string{"graphtrap/unknown", "$/unknown", "textDocument/hover", "shutdown", "window/workDoneProgress/cancel"}[c.below(5)], []any{nil, object{"token": "x"}}[c.below(2)])
	case 14: // garbage in a frame, but no request by chance
		if body := c.bytes(60); !json.Valid(body) || !bytes.Contains(body, []byte("method")) {
			said.frame(body)
		}
	case 15: // garbage in front of a frame
		said.said.WriteString([]string{"\r\n", "\n\n", "Content-Length: 0\r\n\r\n", "Content-Length: -1\r\n\r\n", "X: y\r\n\r\n"}[c.below(5)])
	case 16: // a response that was not asked for
		said.frame(encode([]object{
			{"jsonrpc": "2.0", "id": c.below(9), "result": nil}, {"jsonrpc": "2.0", "id": c.below(9), "error": object{"code": 1, "message": "no"}},
			{"jsonrpc": "2.0", "id": nil, "result": []any{object{}}}, {"jsonrpc": "1.0", "id": 1, "result": 1},
		}[c.below(4)]))
	case 17:
		said.notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": document["uri"], "type": c.below(5)}}})
		said.notify("workspace/didChangeWorkspaceFolders", object{"event": object{"added": []object{{"uri": document["uri"], "name": "x"}}, "removed": []object{{"uri": document["uri"], "name": "x"}}}})
	case 18: // which is answered when there is news
		ask("workspace/diagnostic", object{"previousResultIds": []object{}, "partialResultToken": []any{"t", 5}[c.below(2)]})
	case 19:
		for range 1 + c.below(80) { // more than may be in flight
			ask("textDocument/hover", object{"textDocument": document, "position": object{"line": 0, "character": 0}})
		}
	}
}
