package server_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

func TestDiagnostics(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a failure", "start\nrank3 COLLATERAL waited 600 s for it\nx rank17 INITIATOR oom\nrank4 ECHO said again\n", `
2:2-2:22 error graphtrap/cuda-graph-capture-oom rank 17 started it: a CUDA graph capture ran out of memory; 2 collateral
  1:0 rank 3: waited 600 s for it
  3:0 rank 4: said again
1:0-1:36 hint graphtrap/nccl-timeout collateral of rank 17 (line 3): waited 600 s for it tags=[1]
3:0-3:21 hint graphtrap/echo echo of rank 17 (line 3): said again tags=[1]
`},
		{"failed together", "INITIATOR a\nrank0 ALSO a\nrank1 ALSO a\n", `
0:0-0:11 error graphtrap/cuda-graph-capture-oom CUDA graph capture ran out of memory
  1:0 rank 0: failed at the same time
  2:0 rank 1: failed at the same time
1:0-1:12 error graphtrap/cuda-graph-capture-oom rank 0: failed at the same time as line 1
2:0-2:12 error graphtrap/cuda-graph-capture-oom rank 1: failed at the same time as line 1
`},
		{"undetermined", "UNDETERMINED\nrank0 COLLATERAL waited\nrank1 EVIDENCE silent\n", `
2:0-2:21 warning graphtrap/cuda-graph-capture-oom undetermined: rank 7 printed nothing; silent; needed: what rank 7 printed: kubectl logs trainer-7; 1 collateral
  1:0 rank 0: waited
1:0-1:23 hint graphtrap/nccl-timeout collateral of line 3: waited tags=[1]
`},
		{"a suspect", "UNDETERMINED\nrank7 INITIATOR\n", `
1:0-1:15 warning graphtrap/cuda-graph-capture-oom undetermined: rank 7 printed nothing; needed: what rank 7 printed: kubectl logs trainer-7
`},
		{"known by absence", "rank0 COLLATERAL waited\nfine\nrank1 EVIDENCE it lags", `
2:0-2:22 error graphtrap/cuda-graph-capture-oom CUDA graph capture ran out of memory; it lags; 1 collateral
  0:0 rank 0: waited
0:0-0:23 hint graphtrap/nccl-timeout collateral of line 3: waited tags=[1]
`},
		{"only a block", "one\nrank2 BLOCK of lines\nrank3 noise\nlast", `
1:0-1:20 error graphtrap/cuda-graph-capture-oom rank 2 started it: a CUDA graph capture ran out of memory
`},
		{"no failure", "all is well\n", "\n"},
		{"nothing", "", "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := session(t, server.Config{})
			c.Open(logURI, "log", 5, tt.text)
			got := c.Diagnostics(logURI, 5)
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), show(got)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			for _, d := range got {
				for _, r := range d.RelatedInformation {
					if r.Location.URI != logURI {
						t.Errorf("related line in %s", r.Location.URI)
					}
				}
			}
		})
	}
}

func TestRelatedLinesAreBounded(t *testing.T) {
	c := session(t, server.Config{})
	var text strings.Builder
	text.WriteString("rank0 INITIATOR\n")
	for i := range 5000 {
		fmt.Fprintf(&text, "rank%d COLLATERAL waited\n", i+1)
	}
	c.Open(logURI, "log", 1, text.String())
	d := c.Diagnostics(logURI, 1)
	if n := len(d[0].RelatedInformation); n != 6 {
		t.Errorf("%d related lines, want 6", n)
	}
	if m := fmt.Sprint(d[0].Message); !strings.HasSuffix(m, "5000 collateral") {
		t.Errorf("the message does not count them: %s", m)
	}
	if len(d) > 2000 {
		t.Errorf("%d diagnostics", len(d))
	}
}

func TestClientsThatCanDoLess(t *testing.T) {
	c, _ := start(t, server.Config{})
	c.Initialize("", func(p object) { lsptest.Set(p, object{}, "capabilities") })
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, "rank3 COLLATERAL waited\nrank17 INITIATOR\n")
	for _, d := range c.Diagnostics(logURI, 1) {
		if d.RelatedInformation != nil || d.Tags.Len() > 0 {
			t.Errorf("got related information or tags: %+v", d)
		}
	}
	h := hoverAt(c, logURI, 1, 0)
	content, ok := h.Contents.(*protocol.MarkupContent)
	if !ok || content.Kind != protocol.MarkupKindPlainText || strings.ContainsAny(content.Value, "*`[") {
		t.Errorf("hover %+v, want plain text", h.Contents)
	}
}

func TestWhichDocumentsAreDiagnosedUnasked(t *testing.T) {
	tests := []struct {
		uri, language string
		want          bool
	}{
		{"file:///a/train.txt", "log", true},
		{"output:extension-output-x", "Log", true},
		{"file:///a/train.log", "plaintext", true},
		{"file:///a/TRAIN.LOG.12", "plaintext", true},
		{"file:///a/slurm-4711.out", "", true},
		{"file:///a/worker.err", "text", true},
		{"file:///a/attempt_0/3/stderr", "plaintext", true},
		{"file:///a/stdout", "plaintext", true},
		{"untitled:Untitled-1", "plaintext", false},
		{"output:tasks", "plaintext", false},
		{"file:///a/notes.txt", "plaintext", true}, // by what stands in it
		{"file:///a/README.txt", "plaintext", false},
		{"file:///a/requirements-dev.txt", "plaintext", false},
		{"file:///a/CMakeLists.txt", "cmake", false},
		{"file:///a/notes.md", "markdown", false},
		{"file:///a/traced.log", "python", false},
		{"file:///a/config.log", "yaml", false},
		{"file:///a/coloured.log", "some-highlighter", true},
		{"file:///a/report", "python-traceback", true},
		{"file:///a/logger.go", "go", false},
		{"file:///a/train.py", "python", false},
		{"file:///a/blog", "plaintext", false},
		{"file:///a/catalog", "plaintext", false},
	}
	c := session(t, server.Config{})
	for _, tt := range tests {
		c.Open(tt.uri, tt.language, 1, "rank1 INITIATOR")
		if tt.want {
			if d := c.Diagnostics(tt.uri, 1); len(d) != 1 {
				t.Errorf("%s (%s): %s", tt.uri, tt.language, show(d))
			}
		} else if hoverAt(c, tt.uri, 0, 0) != nil {
			t.Errorf("%s (%s) has a hover", tt.uri, tt.language)
		}
	}
	for _, tt := range tests {
		if got := len(c.Publications(tt.uri)) > 0; got != tt.want {
			t.Errorf("%s (%s): diagnosed %v, want %v", tt.uri, tt.language, got, tt.want)
		}
	}
}

// TestTextIsDiagnosedWhenAsked and from then on, until it is closed.
func TestTextIsDiagnosedWhenAsked(t *testing.T) {
	c := session(t, server.Config{})
	const note = "untitled:Untitled-1"
	c.Open(note, "plaintext", 1, "rank1 INITIATOR")
	if got := read(c, note); got != "rank1 INITIATOR" {
		t.Errorf("read %q", got)
	}
	if d := c.Diagnostics(note, 1); len(d) != 1 {
		t.Errorf("after asking: %s", show(d))
	}
	c.Change(note, 2, object{"range": lsptest.Span(0, 0, 0, 0), "text": "\n"})
	if d := c.Diagnostics(note, 2); len(d) != 1 || d[0].Range.Start.Line != 1 {
		t.Errorf("after a change: %s", show(d))
	}
	c.Close(note)
	c.Cleared(note)
	c.Open(note, "plaintext", 3, "rank1 INITIATOR")
	if hoverAt(c, note, 0, 0) != nil {
		t.Error("it is still diagnosed after it was opened again")
	}
}

// TestAProgressBarBeforeTheFailure: its lone CRs end lines for most editors, and
// for no report.
func TestAProgressBarBeforeTheFailure(t *testing.T) {
	bar := "  0%|          | 0/3\r 33%|███▍      | 1/3\r100%|██████████| 3/3\r"
	text := "start\n" + bar + "\n" + bar + "rank17 INITIATOR oom\nrank3 COLLATERAL waited\n"
	tests := []struct {
		client   string
		lines    [2]uint32
		column   uint32
		mentions string
	}{
		// 1 line and 3 of each bar: the CR before the LF ends no line of its own.
		{"Visual Studio Code", [2]uint32{7, 8}, 0, "(line 8)"},
		{"Neovim", [2]uint32{2, 3}, uint32(len(bar)), "(line 3)"},
	}
	for _, tt := range tests {
		t.Run(tt.client, func(t *testing.T) {
			c, _ := start(t, server.Config{})
			c.Initialize("", func(p object) { lsptest.Set(p, tt.client, "clientInfo", "name") })
			t.Cleanup(c.Shutdown)
			c.Open(logURI, "log", 1, text)
			d := c.Diagnostics(logURI, 1)
			if len(d) != 2 || d[0].Range.Start.Line != tt.lines[0] || d[1].Range.Start.Line != tt.lines[1] {
				t.Fatalf("diagnostics on other lines than %v:\n%s", tt.lines, show(d))
			}
			if d[0].Range.Start.Character != tt.column {
				t.Errorf("column %d, want %d", d[0].Range.Start.Character, tt.column)
			}
			if m := fmt.Sprint(d[1].Message); !strings.Contains(m, tt.mentions) {
				t.Errorf("%q does not mention %s", m, tt.mentions)
			}
			if h := hoverAt(c, logURI, int(tt.lines[0]), 4); h == nil || h.Range.Start != d[0].Range.Start {
				t.Errorf("hover %+v is not on the line of the failure", h)
			}
			if h := hoverAt(c, logURI, int(tt.lines[0])-1, 0); h != nil {
				t.Errorf("hover on the line before: %+v", h)
			}
			c.Change(logURI, 2, object{"range": lsptest.Span(int(tt.lines[0]), int(tt.column), int(tt.lines[0]), int(tt.column)), "text": "x "})
			if d := c.Diagnostics(logURI, 2); d[0].Range.Start.Character != tt.column+2 {
				t.Errorf("after an edit before it:\n%s", show(d))
			}
		})
	}
}

// TestALineOfTheReportThatTheEditorShowsAsSeveral is marked where a terminal
// shows it.
func TestALineOfTheReportThatTheEditorShowsAsSeveral(t *testing.T) {
	text := "  0%|\r 50%|\rrank1 INITIATOR\r\n"
	c := session(t, server.Config{Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		a, err := fakeAnalysis(ctx, f, o)
		if err == nil {
			at := a.Report.Verdict.Initiator.StatedAt
			at.Offset, at.EndOffset = 0, int64(len(text)-1) // the whole line, as LF counts
		}
		return a, err
	}})
	c.Open(logURI, "log", 1, text)
	if got := c.Diagnostics(logURI, 1); got[0].Range != (protocol.Range{Start: protocol.Position{Line: 2}, End: protocol.Position{Line: 2, Character: 15}}) {
		t.Errorf("marked %+v", got[0].Range)
	}
}

func TestANewVersionCancelsTheOlderAnalysis(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	g.await(t, "started", &g.started, 1)
	c.Change(logURI, 2, object{"text": "rank2 INITIATOR"})
	g.await(t, "cancelled", &g.cancelled, 1)
	g.await(t, "started", &g.started, 2)
	close(g.open)
	if d := c.Diagnostics(logURI, 2); len(d) != 1 {
		t.Errorf("got %s", show(d))
	}
	for _, p := range c.Publications(logURI) {
		if v, _ := p.Version.Get(); v != 2 {
			t.Errorf("version %d was published", v)
		}
	}
}

// TestAHoverKeepsAnAnalysisAlive that a newer version would have cancelled.
func TestAHoverKeepsAnAnalysisAlive(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	p := c.Start("textDocument/hover", object{"textDocument": object{"uri": logURI}, "position": object{"line": 0, "character": 0}})
	g.await(t, "started", &g.started, 1)
	c.Change(logURI, 2, object{"text": "rank2 INITIATOR"})
	g.await(t, "started", &g.started, 2)
	close(g.open)
	if m := p.Response(); m.Error != nil || !strings.Contains(string(m.Result), "Rank 1 started it") {
		t.Errorf("error %+v, result %s", m.Error, m.Result)
	}
	c.Diagnostics(logURI, 2)
}

func TestABurstOfChangesIsAnalysedOnce(t *testing.T) {
	g := newGate()
	close(g.open)
	c := session(t, server.Config{Analyze: g.analyze, Debounce: 200 * time.Millisecond})
	c.Open(logURI, "log", 0, "")
	c.Diagnostics(logURI, 0)
	for i := 1; i <= 50; i++ {
		c.Change(logURI, i, object{"text": fmt.Sprintf("rank%d INITIATOR", i)})
	}
	c.Diagnostics(logURI, 50)
	if n := g.started.Load(); n > 10 {
		t.Errorf("%d analyses of 51 versions", n)
	}
}

// TestADocumentThatKeepsChanging is diagnosed all the same.
func TestADocumentThatKeepsChanging(t *testing.T) {
	c := session(t, server.Config{Debounce: 300 * time.Millisecond})
	c.Open(logURI, "log", 0, "")
	c.Diagnostics(logURI, 0)
	limit := time.Now().Add(lsptest.Patience)
	for i := 1; len(c.Publications(logURI)) < 2; i++ {
		c.Change(logURI, i, object{"range": lsptest.Span(0, 0, 0, 0), "text": "x"})
		if time.Now().After(limit) {
			t.Fatal("no diagnostics while it changes")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestClosingClears(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	g.await(t, "started", &g.started, 1)
	c.Close(logURI)
	c.Cleared(logURI)
	g.await(t, "cancelled", &g.cancelled, 1)
	close(g.open)
	c.Open(logURI, "log", 1, "rank2 INITIATOR") // the same version, of another text
	if d := c.Diagnostics(logURI, 1); !strings.Contains(show(d), "rank 2") {
		t.Errorf("got %s", show(d))
	}
	if h := hoverAt(c, "file:///other.log", 0, 0); h != nil {
		t.Error("hover on a document that is not open")
	}
}

// TestAClientThatDoesNotRead stops its own diagnostics and nothing else: the
// server still takes what it sends.
func TestAClientThatDoesNotRead(t *testing.T) {
	serverIn, in := io.Pipe()
	out := &blockedWriter{first: make(chan struct{}), second: make(chan struct{}), release: make(chan struct{})}
	code := make(chan int, 1)
	srv := server.New(server.Config{Analyze: fakeAnalysis})
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
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
	<-out.first // the response
	send(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a.log","languageId":"log","version":0,"text":"rank1 INITIATOR"}}}`)
	<-out.second // the diagnostics
	for i := range 2000 {
		send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a.log","version":%d},"contentChanges":[{"text":"rank%d INITIATOR"}]}}`, i, i))
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
