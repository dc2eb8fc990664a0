package server_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
	"github.com/graphtrap/graphtrap/signatures"
)

var builtin = sync.OnceValue(func() *analyzer.Analyzer {
	set, err := signatures.Builtin()
	if err != nil {
		panic(err)
	}
	return analyzer.New(set, analyzer.Options{})
})

// realAnalysis is the analyzer itself, for tests of what is read off single lines.
func realAnalysis(ctx context.Context, files []analyzer.File, _ analyzer.Options) (*analyzer.Analysis, error) {
	return builtin().Diagnose(ctx, files)
}

// caseLog is the log of a case.
func caseLog(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("../testdata/cases/" + name + "/log.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func hoverValue(t *testing.T, h *protocol.Hover) string {
	t.Helper()
	if h == nil {
		return ""
	}
	content, ok := h.Contents.(*protocol.MarkupContent)
	if !ok || h.Range == nil {
		t.Fatalf("hover %+v", h)
	}
	return content.Value
}

// TestHoverOfSeveralRecordsOnALine: each state of a progress bar, and a message that
// was glued to one, is told of by itself, whether the editor shows them on lines of
// their own or not.
func TestHoverOfSeveralRecordsOnALine(t *testing.T) {
	bar := "Capturing CUDA graphs:   3%|▎| 1/35 [00:00<00:20]\rCapturing CUDA graphs:  20%|██| 7/35 [00:03<00:12]\r"
	text := "(Worker_TP0 pid=9) INFO 10-14 08:12:10 [x.py:1] start\n" + bar + "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	tests := []struct {
		client       string
		line, column int
		want         string
	}{
		{"Visual Studio Code", 1, 5, "1 of 35"},
		{"Visual Studio Code", 2, 5, "7 of 35"},
		{"Visual Studio Code", 3, 20, "2.00 GiB"},
		{"Neovim", 1, 5, "1 of 35"},
		{"Neovim", 1, strings.Index(bar, "20%"), "7 of 35"},
		{"Neovim", 1, len(bar) + 20, "2.00 GiB"},
	}
	for _, tt := range tests {
		c, _ := start(t, server.Config{Analyze: realAnalysis})
		c.Initialize("", func(p object) { lsptest.Set(p, tt.client, "clientInfo", "name") })
		c.Open(logURI, "log", 1, text)
		if got := hoverValue(t, hoverAt(c, logURI, tt.line, tt.column)); !strings.Contains(got, tt.want) {
			t.Errorf("%s, %d:%d: %q does not tell %q", tt.client, tt.line, tt.column, got, tt.want)
		}
		c.Diagnostics(logURI, 1)
		c.Shutdown()
	}
}

// TestHoverOfAJSONRecord stands on the record's text, between the quotes.
func TestHoverOfAJSONRecord(t *testing.T) {
	text := `{"log":"\u001b[31m[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\u001b[0m\n","stream":"stderr","time":"2026-11-23T08:14:44.400000000Z"}` + "\n"
	c := session(t, server.Config{Analyze: realAnalysis})
	c.Open(logURI, "log", 1, text)
	h := hoverAt(c, logURI, 0, strings.Index(text, "Tried"))
	if got := hoverValue(t, h); !strings.Contains(got, "2.00 GiB") {
		t.Fatalf("hover %q", got)
	}
	if got := text[h.Range.Start.Character:h.Range.End.Character]; !strings.HasPrefix(got, "torch.Out") || !strings.HasSuffix(got, "2.00 GiB.") {
		t.Errorf("it stands on %q", got)
	}
}

// TestHoverIsQuiet where nothing is known, on every line of a case that the report
// does not speak of and no signature knows.
func TestHoverIsQuiet(t *testing.T) {
	text := caseLog(t, "no-failure") + "a line of prose\n\n   \nINFO loss 3.2\n"
	analysis, err := realAnalysis(context.Background(), []analyzer.File{{Path: "train.log", Data: strings.NewReader(text), Size: int64(len(text))}}, analyzer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := session(t, server.Config{Analyze: realAnalysis})
	c.Open(logURI, "log", 1, text)
	quiet, number, offset := 0, 0, 0
	for raw := range strings.Lines(text) {
		known := false
		for _, l := range analysis.Line(0, bytes.TrimSuffix([]byte(raw), []byte("\n")), int64(number+1), int64(offset)) {
			known = known || len(l.Messages) > 0
		}
		if h := hoverAt(c, logURI, number, 3); (h != nil) != known {
			t.Errorf("line %d, known %v: hover %+v on %q", number, known, h, raw)
		}
		if !known {
			quiet++
		}
		number++
		offset += len(raw)
	}
	if quiet < 4 {
		t.Errorf("only %d lines are unknown", quiet)
	}
}

// TestHoverRespondsToCancel: a request that waits for an analysis is given up.
func TestHoverRespondsToCancel(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze})
	c.Open(logURI, "log", 1, "rank1 INITIATOR")
	g.await(t, "started", &g.started, 1)
	for _, method := range []string{"textDocument/hover", "textDocument/inlayHint"} {
		p := c.Start(method, object{
			"textDocument": object{"uri": logURI}, "position": object{"line": 0, "character": 0}, "range": lsptest.Span(0, 0, 9, 0),
		})
		p.Cancel()
		if m := p.Response(); m.Error == nil || m.Error.Code != -32800 {
			t.Errorf("%s: error %+v", method, m.Error)
		}
	}
	close(g.open)
	c.Diagnostics(logURI, 1)
}

func BenchmarkHover(b *testing.B) {
	text := caseLog(b, "sixty-four-ranks-one-answers-with-a-lower-counter")
	for len(text) < 10<<20 {
		text += text
	}
	c, _ := start(b, server.Config{Analyze: realAnalysis})
	c.Initialize("", nil)
	c.Open(logURI, "log", 1, text)
	c.Diagnostics(logURI, 1)
	last := strings.Count(text, "\n") - 3
	for b.Loop() {
		hoverAt(c, logURI, last, 70)
	}
	b.StopTimer()
	c.Shutdown()
}
