package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"pgregory.net/rapid"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// editor counts lines and columns as an editor does, in another way than package
// position: it takes the text apart character by character.
type editor struct {
	encoding string
	lines    []string
}

func newEditor(encoding, text string) editor {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return editor{encoding, strings.Split(text, "\n")}
}

// width is how many units a character takes.
func (e editor) width(r rune) int {
	switch e.encoding {
	case "utf-8":
		return utf8.RuneLen(r)
	case "utf-16":
		return utf16.RuneLen(r)
	}
	return 1
}

// from is the rest of a line behind a column; the column must be one between two
// characters.
func (e editor) from(line, column uint32) string {
	if int(line) >= len(e.lines) {
		panic(fmt.Sprintf("there is no line %d", line))
	}
	rest, left := e.lines[line], int(column)
	for left > 0 {
		r, size := utf8.DecodeRuneInString(rest)
		if size == 0 || e.width(r) > left {
			panic(fmt.Sprintf("there is no column %d on line %d", column, line))
		}
		left -= e.width(r)
		rest = rest[size:]
	}
	return rest
}

// text is what stands in a range of one line.
func (e editor) text(r protocol.Range) string {
	if r.Start.Line != r.End.Line {
		panic(fmt.Sprintf("%v spans lines", r))
	}
	behind := e.from(r.End.Line, r.End.Character)
	return strings.TrimSuffix(e.from(r.Start.Line, r.Start.Character), behind)
}

// column is where a text begins on a line.
func (e editor) column(line int, text string) int {
	i := strings.Index(e.lines[line], text)
	if i < 0 {
		panic(text)
	}
	n := 0
	for _, r := range e.lines[line][:i] {
		n += e.width(r)
	}
	return n
}

// decorated is a log with colours, emoji and CJK text in front of, between and behind
// what is recognised.
type decorated struct {
	text string
	// initiator and collateral are the texts, without labels and colour codes around
	// them, of the lines with these numbers.
	initiator, collateral string
	lines                 [2]int
	times                 []string
}

// decorate builds a log of parts: front goes before the labels, inner between them,
// word into the messages, behind at the ends of the lines.
func decorate(front, inner, word, behind string) decorated {
	d := decorated{
		initiator:  word + ": torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. " + word,
		collateral: "[Rank 0] " + word + " Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=5, NumelOut=5, Timeout(ms)=600000) ran for 600009 milliseconds before timing out." + word,
		lines:      [2]int{2, 4},
		times:      []string{"2026-11-28 04:13:20", "2026-11-28 04:13:21", "1128 04:23:21.120000001"},
	}
	d.text = strings.Join([]string{
		front + "2026-11-28 04:13:20 " + inner + "[rank0]: " + word + " step 10 " + behind,
		word + behind + " 100%|██████| 3/3",
		front + "2026-11-28 04:13:21 " + inner + "[rank1]: " + inner + d.initiator + behind,
		word + " 漢字🙂 prose",
		front + "[rank0]:" + inner + "[E1128 04:23:21.120000001 ProcessGroupNCCL.cpp:629] " + inner + d.collateral + behind,
		"",
	}, "\n")
	return d
}

// checkPositions opens the log in an editor of an encoding and checks that everything
// that is reported stands on the right characters.
func checkPositions(t interface {
	Helper()
	Errorf(string, ...any)
}, c *lsptest.Client, legend []string, encoding string, version int, d decorated) {
	t.Helper()
	e := newEditor(encoding, d.text)
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s stands on %q, want %q, in %q", encoding, what, got, want, d.text)
		}
	}
	uri := fmt.Sprintf("file:///logs/%d.log", version)
	c.Open(uri, "log", version, d.text)
	defer c.Close(uri)

	found := c.Diagnostics(uri, int32(version))
	if len(found) != 2 {
		t.Errorf("%s: diagnostics\n%s", encoding, show(found))
		return
	}
	same("the diagnostic of the initiator", e.text(found[0].Range), d.initiator)
	same("the diagnostic of the victim", e.text(found[1].Range), d.collateral)
	for _, r := range found[0].RelatedInformation {
		same("the related line", e.text(r.Location.Range), d.collateral)
	}

	for i, want := range []string{d.initiator, d.collateral} {
		line := d.lines[i]
		h := hoverAt(c, uri, line, e.column(line, []string{"Tried", "SeqNum"}[i]))
		if h == nil {
			t.Errorf("%s: line %d has no hover", encoding, line)
			continue
		}
		same("the hover", e.text(*h.Range), want)
	}

	hints := hintsIn(c, uri, 0, 100)
	if len(hints) != 1 {
		t.Errorf("%s: hints %q", encoding, labels(hints))
	}
	for _, h := range hints {
		if rest := e.from(h.Position.Line, h.Position.Character); !strings.HasPrefix(rest, d.collateral) {
			t.Errorf("%s: the hint stands in front of %q, want %q", encoding, rest, d.collateral)
		}
	}

	for _, span := range []object{nil, lsptest.Span(0, 0, 100, 0)} {
		method, params := "textDocument/semanticTokens/full", object{"textDocument": object{"uri": uri}}
		if span != nil {
			method, params["range"] = "textDocument/semanticTokens/range", span
		}
		var tokens protocol.SemanticTokens
		c.Call(method, params, &tokens)
		byKind := map[string][]string{}
		var line, column uint32
		for k := range slices.Chunk(tokens.Data, 5) {
			if k[0] > 0 {
				column = 0
			}
			line, column = line+k[0], column+k[1]
			at := protocol.Range{Start: protocol.Position{Line: line, Character: column}, End: protocol.Position{Line: line, Character: column + k[2]}}
			byKind[legend[k[3]]] = append(byKind[legend[k[3]]], e.text(at))
		}
		same("the initiator's token", strings.Join(byKind["logInitiator"], "+"), d.initiator)
		same("the victim's token", strings.Join(byKind["logCollateral"], "+"), d.collateral)
		same("the times' tokens", strings.Join(byKind["logTime"], "+"), strings.Join(d.times, "+"))
		same("the labels' tokens", strings.Join(byKind["logRank"], "+"), "[rank0]+[rank1]+[rank0]")
	}
}

// positionsClient is an editor that counts in one encoding only.
func positionsClient(t *testing.T, encoding string) (c *lsptest.Client, legend []string) {
	t.Helper()
	c, _ = start(t, server.Config{Analyze: realAnalysis})
	got := c.Initialize("", func(p object) {
		colours(p)
		lsptest.Set(p, []string{}, "capabilities", "textDocument", "semanticTokens", "tokenTypes")
		lsptest.Set(p, []string{encoding}, "capabilities", "general", "positionEncodings")
	})
	t.Cleanup(c.Shutdown)
	if string(got.Capabilities.PositionEncoding) != encoding {
		t.Fatalf("the encoding is %s, want %s", got.Capabilities.PositionEncoding, encoding)
	}
	return c, got.Capabilities.SemanticTokensProvider.(*protocol.SemanticTokensOptions).Legend.TokenTypes
}

var positionEncodings = []string{"utf-8", "utf-16", "utf-32"}

// TestPositions: reports, hovers, hints and tokens stand on the right characters in
// every encoding, whatever else is on the line.
func TestPositions(t *testing.T) {
	for _, encoding := range positionEncodings {
		t.Run(encoding, func(t *testing.T) {
			c, legend := positionsClient(t, encoding)
			for i, d := range []decorated{
				decorate("", "", "x", ""),
				decorate("\x1b[32m", "\x1b[0m", "x", "\x1b[0m"),
				decorate("\x1b[1;31m", "\x1b[36m", "漢字🙂é", "\x1b[0m\x1b[K"),
				decorate("", "", "🔥🔥👩‍💻", ""),
				decorate("\x1b]0;標題\x07", "\x1b[0m", "メモリ不足", "\x1b[0m"),
			} {
				checkPositions(t, c, legend, encoding, i+1, d)
			}
		})
	}
}

// TestPositionsOfAnything does the same with colours and characters in any mixture.
func TestPositionsOfAnything(t *testing.T) {
	for _, encoding := range positionEncodings {
		t.Run(encoding, func(t *testing.T) {
			c, legend := positionsClient(t, encoding)
			version := 0
			codes := rapid.SliceOfN(rapid.SampledFrom([]string{"\x1b[31m", "\x1b[0m", "\x1b[1;4m", "\x1b[K", "\x1b]8;;\x1b\\", "\x00"}), 0, 3)
			words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "é", "漢", "字", "🙂", "👩‍💻", "ｱ", "\u0301", "ß"}), 1, 6)
			rapid.Check(t, func(r *rapid.T) {
				version++
				draw := func(g *rapid.Generator[[]string], label string) string { return strings.Join(g.Draw(r, label), "") }
				d := decorate(draw(codes, "front"), draw(codes, "inner"), "w"+draw(words, "word")+"w", draw(codes, "behind"))
				checkPositions(r, c, legend, encoding, version, d)
			})
		})
	}
}
