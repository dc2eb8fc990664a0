package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// hintsIn asks for the hints of some lines.
func hintsIn(c *lsptest.Client, uri string, first, last int) (hints []protocol.InlayHint) {
	c.Call("textDocument/inlayHint", object{"textDocument": object{"uri": uri}, "range": lsptest.Span(first, 0, last, 0)}, &hints)
	return hints
}

// labels prints hints as "line:character label".
func labels(hints []protocol.InlayHint) []string {
	var out []string
	for _, h := range hints {
		out = append(out, fmt.Sprintf("%d:%d %v", h.Position.Line, h.Position.Character, h.Label))
	}
	return out
}

// hinted is a log in which an agent's lines name no rank, and local ranks are known
// by the launcher's table.
const hinted = `2026-11-28 04:13:20 [rank0]: step 10 loss 6.9
2026-11-28 04:13:20,500 [rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.10 GiB of which 1.02 GiB is free.
2026-11-28 04:13:20,900 [default0]:NCCL WARN Cuda failure 'out of memory'
[rank0]:[E1128 04:23:21.120000001 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=52428800, NumelOut=52428800, Timeout(ms)=600000) ran for 600009 milliseconds before timing out.
W1128 04:23:22.000000 900 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 9 closing signal SIGTERM
a line of prose
  rank      : 1 (local_rank: 1)
  rank      : 0 (local_rank: 0)
`

func TestInlayHints(t *testing.T) {
	c := session(t, server.Config{Analyze: realAnalysis})
	c.Open(logURI, "log", 1, hinted)
	c.Diagnostics(logURI, 1)
	all := hintsIn(c, logURI, 0, 100)
	want := []string{"3:60 +10 min", "4:80 +10 min"}
	got := labels(all)
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no hint %q in %q", w, got)
		}
	}
	for _, h := range all {
		if tip, ok := h.Tooltip.(protocol.String); !ok || tip == "" || strings.ContainsAny(string(tip), "*`[") {
			t.Errorf("%v has the tooltip %v", h.Label, h.Tooltip)
		}
		if h.PaddingRight == nil || !*h.PaddingRight || h.Kind != 0 || h.TextEdits != nil {
			t.Errorf("%+v", h)
		}
		if h.Position.Line == 1 {
			t.Errorf("the initiating line has the hint %v", h.Label)
		}
	}
	if some := labels(hintsIn(c, logURI, 3, 4)); !slices.Equal(some, []string{"3:60 +10 min"}) {
		t.Errorf("line 3 alone has %q", some)
	}
	if none := hintsIn(c, logURI, 5, 6); len(none) > 0 {
		t.Errorf("prose has %q", labels(none))
	}
}

// TestInlayHintsWhereThereIsNothingToSay: a document that is not watched, one that is
// not open, a range that lies behind the end or the wrong way round.
func TestInlayHintsWhereThereIsNothingToSay(t *testing.T) {
	c := session(t, server.Config{Analyze: realAnalysis})
	c.Open("untitled:Untitled-1", "plaintext", 1, hinted)
	c.Open(logURI, "log", 1, hinted)
	c.Diagnostics(logURI, 1)
	for _, tt := range []struct {
		uri         string
		first, last int
	}{{"untitled:Untitled-1", 0, 9}, {"file:///other.log", 0, 9}, {logURI, 1000, 2000}, {logURI, 4, 0}} {
		if hints := hintsIn(c, tt.uri, tt.first, tt.last); len(hints) > 0 {
			t.Errorf("%s %d to %d: %q", tt.uri, tt.first, tt.last, labels(hints))
		}
	}
}

// TestInlayHintsOfAClientThatShowsNone are not announced.
func TestInlayHintsOfAClientThatShowsNone(t *testing.T) {
	c, _ := start(t, server.Config{})
	got := c.Initialize("", func(p object) { lsptest.Set(p, nil, "capabilities", "textDocument", "inlayHint") })
	t.Cleanup(c.Shutdown)
	if got.Capabilities.InlayHintProvider != nil {
		t.Errorf("announced %+v", got.Capabilities.InlayHintProvider)
	}
}

// TestInlayHintsAreBounded, also when the whole of a large document is asked for: then
// the lines that the report lists are what counts.
func TestInlayHintsAreBounded(t *testing.T) {
	c := session(t, server.Config{Analyze: realAnalysis})
	line := "[rank%d]:[E1128 04:23:21.120000001 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=5, NumelOut=5, Timeout(ms)=600000) ran for 600009 milliseconds before timing out.\n"
	var text strings.Builder
	text.WriteString("2026-11-28 04:13:20 [rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
	for i := range 3000 {
		fmt.Fprintf(&text, line, i%8)
	}
	c.Open(logURI, "log", 1, text.String())
	if n := len(hintsIn(c, logURI, 0, 5000)); n != 2000 {
		t.Errorf("%d hints, want 2000", n)
	}
	c.Diagnostics(logURI, 1)
	// Prose of 3 MB in front: too much to decode line by line.
	prose := strings.Repeat("a line of prose that says nothing of any failure, and goes on\n", 50_000)
	c.Change(logURI, 2, object{"text": prose + hinted})
	c.Diagnostics(logURI, 2)
	got := labels(hintsIn(c, logURI, 0, 100_000))
	if !slices.Contains(got, "50003:60 +10 min") {
		t.Errorf("the hints of the whole document are %q", got)
	}
	if near := labels(hintsIn(c, logURI, 50_000, 50_006)); !slices.Contains(near, "50003:60 +10 min") {
		t.Errorf("those near the failure are %q", near)
	}
}

func BenchmarkInlayHint(b *testing.B) {
	text := caseLog(b, "sixty-four-ranks-one-answers-with-a-lower-counter")
	for len(text) < 10<<20 {
		text += text
	}
	c, _ := start(b, server.Config{Analyze: realAnalysis})
	c.Initialize("", nil)
	c.Open(logURI, "log", 1, text)
	c.Diagnostics(logURI, 1)
	last := strings.Count(text, "\n")
	for name, first := range map[string]int{"screen": last - 80, "document": 0} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				hintsIn(c, logURI, first, last)
			}
		})
	}
	c.Shutdown()
}
