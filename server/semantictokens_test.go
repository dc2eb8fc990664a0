package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// painted is one token, decoded: its text and the name of its type.
type painted struct{ text, kind string }

// tokensOf asks for the tokens of a document of ASCII text, or of some lines of it.
// absolute is nil where the answer is null.
func tokensOf(t *testing.T, c *lsptest.Client, legend []string, text string, span object) (absolute []painted) {
	t.Helper()
	method, params := "textDocument/semanticTokens/full", object{"textDocument": object{"uri": logURI}}
	if span != nil {
		method, params["range"] = "textDocument/semanticTokens/range", span
	}
	m := c.Start(method, params).Response()
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	if string(m.Result) == "null" {
		return nil
	}
	var got protocol.SemanticTokens
	if err := json.Unmarshal(m.Result, &got); err != nil || got.Data == nil {
		t.Fatalf("%s: %v", m.Result, err)
	}
	lines := strings.Split(text, "\n")
	var line, column uint32
	absolute = []painted{}
	for d := range slices.Chunk(got.Data, 5) {
		if d[0] > 0 {
			column = 0
		}
		line, column = line+d[0], column+d[1]
		absolute = append(absolute, painted{lines[line][column : column+d[2]], legend[d[3]]})
	}
	return absolute
}

const (
	coloured = `[rank0]: step 10 loss 6.9
2026-11-28 04:13:20 [rank1]: step 10 loss 6.9
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
[rank1]: For debugging consider passing CUDA_LAUNCH_BLOCKING=1
[rank0]:[E1128 04:23:21.120000001 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=5, NumelOut=5, Timeout(ms)=600000) ran for 600009 milliseconds before timing out.
`
	timedOut = "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=5, NumelOut=5, Timeout(ms)=600000) ran for 600009 milliseconds before timing out."
)

func colours(p object) { lsptest.Set(p, true, "initializationOptions", "semanticTokens") }

func TestSemanticTokens(t *testing.T) {
	own := []string{"logInitiator", "logCollateral", "logRank", "logTime", "logNoise"}
	standard := []string{"keyword", "string", "type", "number", "comment"}
	tests := []struct {
		name   string
		change func(object)
		legend []string
	}{
		{"an editor that knows the protocol's types", func(object) {}, standard},
		{"an editor that knows ours", func(p object) {
			lsptest.Set(p, append([]string{"keyword"}, own...), "capabilities", "textDocument", "semanticTokens", "tokenTypes")
		}, own},
		{"an editor that does not say", func(p object) {
			lsptest.Set(p, []string{}, "capabilities", "textDocument", "semanticTokens", "tokenTypes")
		}, own},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := start(t, server.Config{Analyze: realAnalysis})
			got := c.Initialize("", func(p object) { colours(p); tt.change(p) })
			t.Cleanup(c.Shutdown)
			provider, ok := got.Capabilities.SemanticTokensProvider.(*protocol.SemanticTokensOptions)
			if !ok || !slices.Equal(provider.Legend.TokenTypes, tt.legend) || provider.Full != protocol.Boolean(true) || provider.Range != protocol.Boolean(true) {
				t.Fatalf("announced %+v", got.Capabilities.SemanticTokensProvider)
			}
			c.Open(logURI, "log", 1, coloured)
			kind := func(i int) string { return tt.legend[i] }
			want := []painted{
				{"[rank0]", kind(2)},
				{"2026-11-28 04:13:20", kind(3)},
				{"[rank1]", kind(2)},
				{"[rank1]", kind(2)},
				{"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", kind(0)},
				{"[rank1]", kind(2)},
				{"For debugging consider passing CUDA_LAUNCH_BLOCKING=1", kind(4)},
				{"[rank0]", kind(2)},
				{"1128 04:23:21.120000001", kind(3)},
				{timedOut, kind(1)},
			}
			if got := tokensOf(t, c, tt.legend, coloured, nil); !slices.Equal(got, want) {
				t.Errorf("got\n%q\nwant\n%q", got, want)
			}
			if got := tokensOf(t, c, tt.legend, coloured, lsptest.Span(1, 0, 2, 0)); !slices.Equal(got, want[1:3]) {
				t.Errorf("line 1 has\n%q\nwant\n%q", got, want[1:3])
			}
			c.Diagnostics(logURI, 1)
		})
	}
}

// TestSemanticTokensAreOff unless the user wants them, and can be turned on and off
// later: then the editor is told to ask again.
func TestSemanticTokensAreOff(t *testing.T) {
	c, _ := start(t, server.Config{Analyze: realAnalysis})
	got := c.Initialize("", func(p object) {
		lsptest.Set(p, true, "capabilities", "workspace", "semanticTokens", "refreshSupport")
		lsptest.Set(p, true, "capabilities", "workspace", "inlayHint", "refreshSupport")
	})
	t.Cleanup(c.Shutdown)
	legend := got.Capabilities.SemanticTokensProvider.(*protocol.SemanticTokensOptions).Legend.TokenTypes
	c.Open(logURI, "log", 1, coloured)
	c.Diagnostics(logURI, 1)
	for turn, on := range []bool{false, true, false} {
		if turn > 0 {
			c.Notify("workspace/didChangeConfiguration", object{"settings": object{"graphtrap": object{"semanticTokens": on}}})
			c.Notification("workspace/semanticTokens/refresh", turn)
			c.Notification("workspace/inlayHint/refresh", turn)
		}
		for _, span := range []object{nil, lsptest.Span(0, 0, 9, 0)} {
			if got := tokensOf(t, c, legend, coloured, span); (got != nil) != on {
				t.Errorf("with the setting %v there are the tokens %q", on, got)
			}
		}
	}
}

// TestSemanticTokensOfAClientThatShowsNone are not announced, and it is not told to ask
// again.
func TestSemanticTokensOfAClientThatShowsNone(t *testing.T) {
	for _, requests := range []any{nil, object{}, object{"full": false, "range": false}} {
		c, _ := start(t, server.Config{Analyze: realAnalysis})
		got := c.Initialize("", func(p object) {
			colours(p)
			lsptest.Set(p, true, "capabilities", "workspace", "semanticTokens", "refreshSupport")
			if requests == nil {
				lsptest.Set(p, nil, "capabilities", "textDocument", "semanticTokens")
			} else {
				lsptest.Set(p, requests, "capabilities", "textDocument", "semanticTokens", "requests")
			}
		})
		if got.Capabilities.SemanticTokensProvider != nil {
			t.Errorf("requests %v: announced %+v", requests, got.Capabilities.SemanticTokensProvider)
		}
		c.Notify("workspace/didChangeConfiguration", object{"settings": object{"graphtrap": object{"semanticTokens": false}}})
		c.Open(logURI, "log", 1, "x")
		c.Diagnostics(logURI, 1)
		c.Shutdown()
		if n := c.Count("workspace/semanticTokens/refresh"); n > 0 {
			t.Errorf("%d refreshes", n)
		}
	}
}

// TestSemanticTokensOfWhatIsNotWatched are none.
func TestSemanticTokensOfWhatIsNotWatched(t *testing.T) {
	c, _ := start(t, server.Config{Analyze: realAnalysis})
	c.Initialize("", colours)
	t.Cleanup(c.Shutdown)
	if got := tokensOf(t, c, nil, "", nil); got != nil {
		t.Errorf("a document that is not open has %q", got)
	}
	c.Open(logURI, "python", 1, coloured)
	if got := tokensOf(t, c, nil, "", nil); got != nil {
		t.Errorf("a document of another language has %q", got)
	}
}

// TestSemanticTokensOfProgressBars: what was drawn over is noise.
func TestSemanticTokensOfProgressBars(t *testing.T) {
	text := "  0%|          | 0/3\r 33%|###       | 1/3\r100%|##########| 3/3\nrank 0 goes on\n"
	c, _ := start(t, server.Config{Analyze: realAnalysis})
	got := c.Initialize("", func(p object) {
		colours(p)
		lsptest.Set(p, "Neovim", "clientInfo", "name") // which shows a bar on one line
	})
	t.Cleanup(c.Shutdown)
	legend := got.Capabilities.SemanticTokensProvider.(*protocol.SemanticTokensOptions).Legend.TokenTypes
	c.Open(logURI, "log", 1, text)
	want := []painted{{"  0%|          | 0/3", "comment"}, {" 33%|###       | 1/3", "comment"}}
	if got := tokensOf(t, c, legend, text, nil); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Diagnostics(logURI, 1)
}

// TestSemanticTokensAreBounded.
func TestSemanticTokensAreBounded(t *testing.T) {
	c, _ := start(t, server.Config{Analyze: realAnalysis})
	c.Initialize("", colours)
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, strings.Repeat("[rank0]: x\n", 120_000))
	var got protocol.SemanticTokens
	c.Call("textDocument/semanticTokens/full", object{"textDocument": object{"uri": logURI}}, &got)
	if len(got.Data) != 5*50_000 {
		t.Errorf("%d tokens", len(got.Data)/5)
	}
	c.Diagnostics(logURI, 1)
}
