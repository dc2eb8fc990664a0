package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// report is what a test reads of a report.
type report struct {
	Input struct {
		Files []struct {
			Path  string `json:"path"`
			Bytes int64  `json:"bytes"`
		} `json:"files"`
	} `json:"input"`
	Verdict struct {
		Status    string `json:"status"`
		Summary   string `json:"summary"`
		Initiator struct {
			Rank     int `json:"rank"`
			StatedAt struct {
				Line   int64 `json:"line"`
				Column int   `json:"column"`
				Offset int64 `json:"offset"`
			} `json:"stated_at"`
		} `json:"initiator"`
	} `json:"verdict"`
}

func TestDiagnoseText(t *testing.T) {
	c := session(t, server.Config{})
	var got report
	c.Call("workspace/executeCommand", command(object{"text": "x\nrank9 INITIATOR\n"}), &got)
	if got.Verdict.Status != "diagnosed" || got.Verdict.Initiator.Rank != 9 {
		t.Errorf("report %+v", got)
	}
	for _, format := range []string{"markdown", "text"} {
		var answer struct {
			Report   report `json:"report"`
			Rendered string `json:"rendered"`
		}
		m := c.Start("workspace/executeCommand", command(object{"text": "rank9 INITIATOR\n", "format": format})).Response()
		if err := json.Unmarshal(m.Result, &answer); err != nil {
			t.Fatalf("%s: %v", m.Result, err)
		}
		if answer.Report.Verdict.Initiator.Rank != 9 || !strings.Contains(strings.ToLower(answer.Rendered), "rank 9 started it") {
			t.Errorf("%s: %+v", format, answer)
		}
	}
	m := c.Start("workspace/executeCommand", command(object{"text": "fine", "format": "markdown"})).Response()
	if !strings.Contains(string(m.Result), "o failure") {
		t.Errorf("no failure is rendered as %s", m.Result)
	}
}

// A report in words on files that are not open leads to their lines.
func TestDiagnoseAFolderInWords(t *testing.T) {
	dir := workspace(t, map[string]string{"ranks/rank_3.log": healthyLog + captureLog, "ranks/rank_5.log": "fine\n"})
	c, _ := start(t, server.Config{Analyze: realAnalysis})
	c.Initialize(string(uri.File(dir)), nil)
	t.Cleanup(c.Shutdown)
	link := fmt.Sprintf("(%s#L", uri.File(filepath.Join(dir, "ranks", "rank_3.log")))
	for _, named := range []string{"ranks", filepath.Join(dir, "ranks")} {
		var answer struct {
			Rendered string `json:"rendered"`
		}
		c.Call("workspace/executeCommand", command(object{"folder": named, "format": "markdown"}), &answer)
		if !strings.Contains(answer.Rendered, link) {
			t.Errorf("%s: no %s in\n%s", named, link, answer.Rendered)
		}
	}
}

func TestDiagnoseASelection(t *testing.T) {
	const text = "rank1 INITIATOR\r\nnoise\rmore rank2 INITIATOR tail\nrank3 INITIATOR\n"
	c := session(t, server.Config{})
	c.Open(logURI, "log", 1, text)
	var got report
	c.Call("workspace/executeCommand", command(object{"uri": logURI, "range": lsptest.Span(2, 5, 2, 25)}), &got)
	at := got.Verdict.Initiator.StatedAt
	if got.Verdict.Initiator.Rank != 2 || at.Offset != int64(strings.Index(text, "rank2")) || at.Line != 2 {
		t.Errorf("rank %d at %+v, want rank 2 where it stands in the document", got.Verdict.Initiator.Rank, at)
	}
	if got.Input.Files[0].Path != "/logs/train.log" {
		t.Errorf("path %q", got.Input.Files[0].Path)
	}
	c.Call("workspace/executeCommand", command(object{"uri": logURI, "range": lsptest.Span(9, 9, 99, 99)}), &got)
}

func TestDiagnoseAPath(t *testing.T) {
	dir := workspace(t, map[string]string{
		"train.log": "rank5 INITIATOR\n", "empty.log": "", "cut.log.gz": "\x1f\x8b\x08\x00", "train.log.bz2": "BZh91AY",
		"windows.log": "\xff\xfe" + wide("rank8 INITIATOR\r\n"), "train.log.gz": packed("rank9 INITIATOR\n"), "ranks/rank_4.log": "rank4 INITIATOR\n",
		"core": "\x7fELF\x02\x01\x01\x00\x01\x02\x03\x04\x05\x06\x07", "hole.log": strings.Repeat("\x00", 9000) + "rank6 INITIATOR\n",
		"color.log": "\x1b[31mrank7 INITIATOR\x1b[0m\r\n", "folder/x": "",
	})
	c, _ := start(t, server.Config{})
	c.Initialize(string(uri.File(dir)), nil)
	t.Cleanup(c.Shutdown)
	for name, rank := range map[string]int{"train.log": 5, "hole.log": 6, "color.log": 7, "windows.log": 8, "train.log.gz": 9, "ranks": 4} {
		var got report
		c.Call("workspace/executeCommand", command(object{"path": filepath.Join(dir, name)}), &got)
		if got.Verdict.Initiator.Rank != rank {
			t.Errorf("%s: rank %d, want %d", name, got.Verdict.Initiator.Rank, rank)
		}
	}
	var got report
	c.Call("workspace/executeCommand", command(object{"path": "train.log"}), &got) // relative to the folder
	if got.Input.Files[0].Path != "train.log" || got.Input.Files[0].Bytes != 16 {
		t.Errorf("files %+v", got.Input.Files)
	}
	c.Call("workspace/executeCommand", command(object{"uri": string(uri.File(filepath.Join(dir, "train.log")))}), &got)
	c.Call("workspace/executeCommand", command(object{"path": "empty.log"}), &got)

	for name, todo := range map[string]string{
		"missing.log": "does not exist: check the path", "folder": "holds no log", "cut.log.gz": "decompressing it",
		"train.log.bz2": "bzip2 -dk", "core": "is binary: give the text",
	} {
		message := c.Fails(-32803, "workspace/executeCommand", command(object{"path": filepath.Join(dir, name)}))
		if !strings.Contains(message, filepath.Join(dir, name)) || !strings.Contains(message, todo) {
			t.Errorf("%s: %q does not name the path and %q", name, message, todo)
		}
	}
	if os.Geteuid() > 0 {
		secret := filepath.Join(dir, "train.log")
		if err := os.Chmod(secret, 0); err != nil {
			t.Fatal(err)
		}
		if m := c.Fails(-32803, "workspace/executeCommand", command(object{"path": secret})); !strings.Contains(m, "permissions") {
			t.Errorf("unreadable file: %s", m)
		}
	}
}

func TestArgumentsThatMeanNothing(t *testing.T) {
	c := session(t, server.Config{})
	for _, arguments := range [][]any{
		nil, {}, {1}, {"text"}, {object{}}, {object{"text": "x"}, 1}, {object{"text": "x", "path": "y"}}, {object{"text": 1}},
		{object{"text": "x", "range": lsptest.Span(0, 0, 1, 1)}}, {object{"text": "x", "format": "html"}}, {object{"uri": ""}},
		{object{"uri": logURI, "range": object{"start": object{"line": -1}}}},
	} {
		c.Fails(jsonrpc2.InvalidParams, "workspace/executeCommand", object{"command": "graphtrap.diagnose", "arguments": arguments})
	}
	c.Fails(jsonrpc2.InvalidParams, "workspace/executeCommand", object{"command": "unknown"})
	c.Fails(jsonrpc2.InvalidParams, "workspace/executeCommand", object{"command": "graphtrap.copyText", "arguments": []any{1}})
	for _, argument := range []object{
		{"uri": "untitled:Untitled-9"}, {"uri": "file:///nowhere/x.log"}, {"path": "relative.log"},
		{"uri": "file:///nowhere/x.log", "range": lsptest.Span(0, 0, 0, 1)},
	} {
		if message := c.Fails(-32803, "workspace/executeCommand", command(argument)); message == "" {
			t.Errorf("%v: no message", argument)
		}
	}
}

func TestHover(t *testing.T) {
	c := session(t, server.Config{})
	c.Open(logURI, "log", 1, "rank3 COLLATERAL waited 600 s\nrank2 EVIDENCE it was slow\nrank17 INITIATOR oom\nfine\n")
	for line, wants := range map[int][]string{
		0: {"Rank 17 started it", "collateral", "Waited 600 s"},
		2: {"Rank 17 started it", "[line 2](file:///logs/train.log#L2): it was slow", "Fix: share one memory pool", "`python verify_pool.py shared`"},
	} {
		h := hoverAt(c, logURI, line, 3)
		content, ok := h.Contents.(*protocol.MarkupContent)
		if !ok || content.Kind != protocol.MarkupKindMarkdown {
			t.Fatalf("hover %+v", h)
		}
		for _, want := range wants {
			if !strings.Contains(content.Value, want) {
				t.Errorf("line %d: no %q in\n%s", line, want, content.Value)
			}
		}
		if h.Range == nil || h.Range.Start.Line != uint32(line) {
			t.Errorf("line %d: range %+v", line, h.Range)
		}
		if n := strings.Count(content.Value, "\n") + 1; n > 15 {
			t.Errorf("line %d: %d lines", line, n)
		}
	}
	for _, line := range []int{1, 3, 4, 1000000} {
		if h := hoverAt(c, logURI, line, 0); h != nil {
			t.Errorf("line %d has a hover: %+v", line, h)
		}
	}
}

// packed is a text as gzip stores it.
func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// wide is an ASCII text in UTF-16, little endian.
func wide(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		b.WriteByte(0)
	}
	return b.String()
}
