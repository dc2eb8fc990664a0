package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// showsProgress makes an editor that shows work of the server's.
func showsProgress(p object) {
	lsptest.Set(p, true, "capabilities", "window", "workDoneProgress")
}

// progressValue is what one $/progress says.
type progressValue struct {
	Token json.RawMessage
	Value struct {
		Kind, Title, Message string
		Cancellable          bool
		Percentage           *int
	}
}

func progressOf(t *testing.T, c *lsptest.Client, n int) progressValue {
	t.Helper()
	var p progressValue
	if err := json.Unmarshal(c.Notification("$/progress", n), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// steps is an analysis that goes on when told to, and tells its progress.
type steps chan [2]int64

func (s steps) analyze(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
	for {
		select {
		case at, more := <-s:
			if !more {
				return fakeAnalysis(ctx, f, o)
			}
			o.Progress(at[0], at[1])
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// withToken is the command with a token of the client's.
func withToken(argument object, token any) object {
	p := command(argument)
	p["workDoneToken"] = token
	return p
}

func TestProgressUnderTheClientsToken(t *testing.T) {
	dir := workspace(t, map[string]string{"train.log": "rank1 INITIATOR", "logs/rank_0.log": "rank1 INITIATOR"})
	const open = "file:///open/open.txt"
	for name, tt := range map[string]struct {
		argument object
		title    string
	}{
		"text":        {object{"text": "rank1 INITIATOR"}, "Diagnosing text"},
		"range":       {object{"uri": open, "range": lsptest.Span(0, 0, 1, 0)}, "Diagnosing open.txt"},
		"uri":         {object{"uri": open}, "Diagnosing open.txt"},
		"uri on disk": {object{"uri": string(uri.File(filepath.Join(dir, "train.log")))}, "Diagnosing train.log"},
		"path":        {object{"path": filepath.Join(dir, "train.log")}, "Diagnosing train.log"},
		"folder":      {object{"folder": filepath.Join(dir, "logs")}, "Diagnosing logs"},
		"folder uri":  {object{"folder": string(uri.File(filepath.Join(dir, "logs")))}, "Diagnosing logs"},
		"path folder": {object{"path": filepath.Join(dir, "logs")}, "Diagnosing logs"},
	} {
		t.Run(name, func(t *testing.T) {
			s := make(steps)
			c := session(t, server.Config{Analyze: s.analyze, Debounce: time.Millisecond})
			c.Open(open, "other", 1, "rank1 INITIATOR")
			p := c.Start("workspace/executeCommand", withToken(tt.argument, "theirs"))
			begin := progressOf(t, c, 1)
			if string(begin.Token) != `"theirs"` || begin.Value.Kind != "begin" || begin.Value.Title != tt.title || !begin.Value.Cancellable || *begin.Value.Percentage != 0 {
				t.Errorf("begins with %+v", begin)
			}
			total := int64(len("rank1 INITIATOR"))
			s <- [2]int64{total / 3, total}
			report := progressOf(t, c, 2)
			if report.Value.Kind != "report" || *report.Value.Percentage != 33 || report.Value.Message == "" {
				t.Errorf("reports %+v", report)
			}
			close(s)
			if m := p.Response(); m.Error != nil {
				t.Fatalf("failed: %+v", m.Error)
			}
			end := progressOf(t, c, 3)
			if end.Value.Kind != "end" || !strings.Contains(end.Value.Message, "Rank 1 started it") {
				t.Errorf("ends with %+v", end)
			}
			if n := c.Count("$/progress"); n != 3 {
				t.Errorf("%d messages", n)
			}
			if n := c.Count("window/workDoneProgress/create"); n != 0 {
				t.Error("a token was made although there was one")
			}
		})
	}
}

// The end comes before the response: after it the token is the client's again.
func TestProgressEndsBeforeTheResponse(t *testing.T) {
	c := session(t, server.Config{})
	for i := range 50 {
		c.Call("workspace/executeCommand", withToken(object{"text": "rank1 INITIATOR"}, i), nil)
		if n := c.Count("$/progress"); n != 2*(i+1) {
			t.Fatalf("%d messages of %d pieces of work when the last was answered", n, i+1)
		}
	}
}

func TestProgressUnderATokenOfOurs(t *testing.T) {
	s := make(steps)
	c, _ := start(t, server.Config{Analyze: s.analyze})
	c.Initialize("", showsProgress)
	t.Cleanup(c.Shutdown)
	p := c.Start("workspace/executeCommand", command(object{"text": "rank1 INITIATOR"}))
	var created struct{ Token json.RawMessage }
	if err := json.Unmarshal(c.Notification("window/workDoneProgress/create", 1), &created); err != nil {
		t.Fatal(err)
	}
	if begin := progressOf(t, c, 1); string(begin.Token) != string(created.Token) || begin.Value.Kind != "begin" {
		t.Errorf("begins with %+v for %s", begin, created.Token)
	}
	close(s)
	if m := p.Response(); m.Error != nil {
		t.Fatalf("failed: %+v", m.Error)
	}
	if end := progressOf(t, c, 2); end.Value.Kind != "end" {
		t.Errorf("ends with %+v", end)
	}
	// What is done in a moment shows nothing.
	c.Call("workspace/executeCommand", command(object{"text": "rank1 INITIATOR"}), nil)
	if n := c.Count("window/workDoneProgress/create"); n != 1 {
		t.Errorf("%d tokens were made", n)
	}
}

// An editor that shows no work, refuses to, or does not answer, gets its report.
func TestWithoutProgress(t *testing.T) {
	for name, tt := range map[string]struct {
		able   bool
		answer any
	}{
		"unable": {false, nil}, "refused": {true, &jsonrpc2.Error{Code: -32601, Message: "no"}}, "silent": {true, lsptest.Silence{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := make(steps)
			c, _ := start(t, server.Config{Analyze: s.analyze})
			c.Answer("window/workDoneProgress/create", func(json.RawMessage) any { return tt.answer })
			c.Initialize("", func(p object) {
				if tt.able {
					showsProgress(p)
				}
			})
			t.Cleanup(c.Shutdown)
			p := c.Start("workspace/executeCommand", command(object{"text": "rank1 INITIATOR"}))
			if tt.able {
				c.Notification("window/workDoneProgress/create", 1)
			} else {
				time.Sleep(300 * time.Millisecond)
			}
			close(s)
			if m := p.Response(); m.Error != nil {
				t.Errorf("failed: %+v", m.Error)
			}
			if n := c.Count("$/progress"); n > 0 || !tt.able && c.Count("window/workDoneProgress/create") > 0 {
				t.Errorf("%d messages of progress", n)
			}
		})
	}
}

func TestWorkIsCancelled(t *testing.T) {
	for name, tt := range map[string]struct {
		token  any
		cancel func(*lsptest.Client, lsptest.Pending, json.RawMessage)
	}{
		"by the request": {"theirs", func(_ *lsptest.Client, p lsptest.Pending, _ json.RawMessage) { p.Cancel() }},
		"by a text as token": {"theirs", func(c *lsptest.Client, _ lsptest.Pending, token json.RawMessage) {
			c.Notify("window/workDoneProgress/cancel", object{"token": "another"})
			c.Notify("window/workDoneProgress/cancel", object{"token": token})
		}},
		"by a number as token": {7, func(c *lsptest.Client, _ lsptest.Pending, token json.RawMessage) {
			c.Notify("window/workDoneProgress/cancel", object{})
			c.Notify("window/workDoneProgress/cancel", object{"token": nil})
			c.Notify("window/workDoneProgress/cancel", object{"token": token})
		}},
		"by our token": {nil, func(c *lsptest.Client, _ lsptest.Pending, token json.RawMessage) {
			c.Notify("window/workDoneProgress/cancel", object{"token": token})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := make(steps)
			c, _ := start(t, server.Config{Analyze: s.analyze})
			c.Initialize("", showsProgress)
			t.Cleanup(c.Shutdown)
			p := c.Start("workspace/executeCommand", withToken(object{"text": "x"}, tt.token))
			begin := progressOf(t, c, 1)
			tt.cancel(c, p, begin.Token)
			if m := p.Response(); m.Error == nil || m.Error.Code != protocol.CodeRequestCancelled {
				t.Errorf("got %+v, want it cancelled", m.Error)
			}
			if end := progressOf(t, c, 2); end.Value.Kind != "end" || end.Value.Message != "Cancelled" {
				t.Errorf("ends with %+v", end)
			}
			c.Notify("window/workDoneProgress/cancel", object{"token": begin.Token}) // too late
			c.Count("window/workDoneProgress/create")
		})
	}
}

// Reading a large folder of compressed logs is given up between two reads.
func TestOpeningIsCancelled(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	line := strings.Repeat("step 1 loss 0.1\n", 1<<12)
	for range 1 << 10 { // 64 MiB of text
		if _, err := z.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	z.Close()
	dir := t.TempDir()
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank_%d.log.gz", i)), packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := realSession(t, nil)
	p := c.Start("workspace/executeCommand", withToken(object{"folder": dir}, "theirs"))
	progressOf(t, c, 1)
	asked := time.Now()
	p.Cancel()
	if m := p.Response(); m.Error == nil || m.Error.Code != protocol.CodeRequestCancelled {
		t.Errorf("got %+v, want it cancelled", m.Error)
	}
	if took := time.Since(asked); took > 5*time.Second {
		t.Errorf("gave up after %v", took)
	}
	if end := progressOf(t, c, 2); end.Value.Kind != "end" {
		t.Errorf("ends with %+v", end)
	}
	c.Count("$/progress")
}

// A log on disk that takes a while shows how much of it was read.
func TestProgressOfARealLog(t *testing.T) {
	log, err := os.ReadFile("../testdata/cases/sixty-four-ranks/train.log")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "train.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	filler := bytes.Repeat([]byte("[rank3]: step 100 loss 1.234 lr 0.0001 and some more text of a healthy run\n"), 1<<14)
	for range 16 {
		if _, err := f.Write(filler); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Write(log); err != nil {
		t.Fatal(err)
	}
	f.Close()
	c := realSession(t, showsProgress)
	var got report
	c.Call("workspace/executeCommand", withToken(object{"path": path}, "theirs"), &got)
	if got.Verdict.Initiator.Rank != 17 {
		t.Errorf("rank %d", got.Verdict.Initiator.Rank)
	}
	last := -1
	n := c.Count("$/progress")
	for i := 1; i <= n; i++ {
		p := progressOf(t, c, i)
		if p.Value.Percentage == nil {
			continue
		}
		if *p.Value.Percentage <= last || *p.Value.Percentage > 100 {
			t.Errorf("%d %% after %d", *p.Value.Percentage, last)
		}
		last = *p.Value.Percentage
	}
	if n < 2 {
		t.Errorf("%d messages", n)
	}
}

func TestFoldersThatAreNone(t *testing.T) {
	dir := workspace(t, map[string]string{"train.log": "x"})
	c, _ := start(t, server.Config{})
	c.Initialize(string(uri.File(dir)), nil)
	t.Cleanup(c.Shutdown)
	if m := c.Fails(-32803, "workspace/executeCommand", command(object{"folder": "train.log"})); !strings.Contains(m, "train.log is no folder: give it as path") {
		t.Errorf("message %s", m)
	}
	if m := c.Fails(-32803, "workspace/executeCommand", command(object{"folder": "none"})); !strings.Contains(m, "none does not exist") {
		t.Errorf("message %s", m)
	}
	c.Fails(jsonrpc2.InvalidParams, "workspace/executeCommand", command(object{"folder": dir, "path": dir}))
}
