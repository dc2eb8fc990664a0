package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// TestRequestsSeeTheTextOfTheirPlaceOnTheWire sends changes back to back and asks
// in between: changes must not overtake each other, nor a request its changes.
func TestRequestsSeeTheTextOfTheirPlaceOnTheWire(t *testing.T) {
	c := session(t, server.Config{})
	c.Open(logURI, "log", 0, "")
	var text strings.Builder
	type asked struct {
		lsptest.Pending
		want string
	}
	var all []asked
	for i := 1; i <= 2000; i++ {
		line := fmt.Sprintf("line %d\n", i)
		c.Change(logURI, i, object{"range": lsptest.Span(i-1, 0, i-1, 0), "text": line})
		text.WriteString(line)
		if i%50 == 0 {
			all = append(all, asked{c.Start("workspace/executeCommand", command(object{"uri": logURI})), text.String()})
		}
	}
	for _, p := range all {
		if m := p.Response(); m.Error != nil || !strings.Contains(string(m.Result), fmt.Sprintf(`"bytes":%d,`, len(p.want))) {
			t.Fatalf("request %d: error %+v, or not %d bytes", p.ID, m.Error, len(p.want))
		}
	}
	if got := read(c, logURI); got != text.String() {
		t.Error("the text is not the one that was sent")
	}
	c.Diagnostics(logURI, 2000)
}

func TestIncrementalChanges(t *testing.T) {
	c, _ := start(t, server.Config{})
	c.Initialize("", func(p object) { lsptest.Set(p, nil, "capabilities", "general") }) // UTF-16
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, "one\r\ntwo\rthree\nfour")
	c.Change(logURI, 2,
		object{"range": lsptest.Span(1, 0, 1, 3), "text": "2 😀"},
		object{"range": lsptest.Span(1, 4, 2, 5), "text": "!"}, // after the emoji's two units
		object{"range": lsptest.Span(0, 99, 0, 99), "text": "."},
		object{"range": lsptest.Span(7, 0, 9, 9), "text": " END"})
	if got, want := read(c, logURI), "one.\r\n2 😀!\nfour END"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	c.Change(logURI, 3, object{"text": "all new"}, object{"range": lsptest.Span(0, 3, 0, 3), "text": " is", "rangeLength": 0})
	if got, want := read(c, logURI), "all is new"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestMalformedChangesPutADocumentOutOfSync(t *testing.T) {
	bad := map[string]string{
		"negative character": `{"range":{"start":{"line":0,"character":-1},"end":{"line":0,"character":0}},"text":"x"}`,
		"fraction":           `{"range":{"start":{"line":0,"character":0.5},"end":{"line":0,"character":1}},"text":"x"}`,
		"too large":          `{"range":{"start":{"line":4294967296,"character":0},"end":{"line":0,"character":1}},"text":"x"}`,
		"negative length":    `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"rangeLength":-1,"text":"x"}`,
		"length, no range":   `{"rangeLength":1,"text":"x"}`,
		"null range":         `{"range":null,"text":"x"}`,
		"half a range":       `{"range":{"start":{"line":0,"character":0}},"text":"x"}`,
		"empty position":     `{"range":{"start":{},"end":{}},"text":"x"}`,
		"backwards":          `{"range":{"start":{"line":1,"character":0},"end":{"line":0,"character":1}},"text":"x"}`,
		"no text":            `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}}`,
		"null text":          `{"text":null}`,
		"number as text":     `{"text":5}`,
		"empty":              `{}`,
		"no object":          `"x"`,
	}
	for name, change := range bad {
		t.Run(name, func(t *testing.T) {
			c := session(t, server.Config{})
			c.Open(logURI, "log", 1, "rank1 INITIATOR")
			c.Diagnostics(logURI, 1)
			malformed := func(version int) {
				c.Frame(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":%q,"version":%d},"contentChanges":[%s]}}`,
					logURI, version, change))
			}
			malformed(2)
			c.Cleared(logURI)
			malformed(3)
			c.Change(logURI, 4, object{"range": lsptest.Span(0, 0, 0, 0), "text": "x"})
			if hoverAt(c, logURI, 0, 0) != nil {
				t.Error("there is still a hover")
			}
			if n := c.Count("window/showMessage"); n != 1 {
				t.Errorf("the user was told %d times, want once", n)
			}
			c.Fails(-32803, "workspace/executeCommand", command(object{"uri": logURI}))
			c.Change(logURI, 5, object{"text": "rank2 INITIATOR"})
			if d := c.Diagnostics(logURI, 5); len(d) != 1 {
				t.Errorf("after the whole text came: %s", show(d))
			}
			malformed(6)
			c.Notification("window/showMessage", 2)
			c.Close(logURI)
			c.Open(logURI, "log", 7, "rank3 INITIATOR")
			if d := c.Diagnostics(logURI, 7); len(d) != 1 {
				t.Errorf("after it was opened again: %s", show(d))
			}
		})
	}
}

// TestURIsGoBackAsTheClientSpelledThem, whatever canonical form they have.
func TestURIsGoBackAsTheClientSpelledThem(t *testing.T) {
	for _, uri := range []string{
		"file:///C:/logs/a+b (1)/train.log", "file:///logs/a%2Fb/train.log", "untitled:Untitled-1", "oil:///tmp/train.log",
		"fugitive:///r//train.log", "output:extension-output-#1-Train", "vscode-remote://ssh-remote%2Bh/logs/train.log",
		"graphtrap://term/1", "term://~//1234:/bin/bash",
	} {
		t.Run(uri, func(t *testing.T) {
			c := session(t, server.Config{})
			c.Open(uri, "log", 1, "rank1 COLLATERAL x\nrank2 INITIATOR")
			d := c.Diagnostics(uri, 1)
			if len(d) != 2 {
				t.Fatalf("%d diagnostics, want 2", len(d))
			}
			if got := string(d[0].RelatedInformation[0].Location.URI); got == "" {
				t.Error("no URI in the related information")
			}
			if hoverAt(c, uri, 1, 0) == nil {
				t.Error("no hover")
			}
			c.Change(uri, 2, object{"text": "fine"})
			if d := c.Diagnostics(uri, 2); len(d) != 0 {
				t.Errorf("after the change: %s", show(d))
			}
			c.Close(uri)
			c.Cleared(uri)
		})
	}
}

func TestADocumentOpenedTwice(t *testing.T) {
	c := session(t, server.Config{})
	c.Open("file:///C:/train.log", "log", 1, "rank1 INITIATOR")
	c.Diagnostics("file:///C:/train.log", 1)
	c.Open("file:///c%3A/train.log", "log", 1, "rank2 INITIATOR")
	c.Cleared("file:///C:/train.log")
	c.Diagnostics("file:///c%3A/train.log", 1)
}
