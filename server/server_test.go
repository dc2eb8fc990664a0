package server_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.lsp.dev/protocol"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type object = lsptest.Object

// start runs a server with the fake analysis, unless c has another one, and
// connects a client to it.
func start(t testing.TB, c server.Config) (*lsptest.Client, func() int) {
	t.Helper()
	if c.Analyze == nil {
		c.Analyze = fakeAnalysis
	}
	if c.Log == nil {
		c.Log = zaptest.NewLogger(t)
	}
	c.Version = "test"
	return lsptest.Run(t, func(in io.Reader, out io.Writer) int {
		return server.New(c).Serve(context.Background(), in, out)
	})
}

// session starts a server and an editor that can do everything.
func session(t *testing.T, c server.Config) *lsptest.Client {
	t.Helper()
	client, _ := start(t, c)
	client.Initialize("", nil)
	t.Cleanup(client.Shutdown)
	return client
}

const logURI = "file:///logs/train.log"

// fakeLine is a line that the fake analysis understands: who, and what it is.
var fakeLine = regexp.MustCompile(`(?:rank(\d+) )?(INITIATOR|BLOCK|ALSO|COLLATERAL|ECHO|EVIDENCE) ?([^\r\n]*)`)

// fakeAnalysis reads verdicts off lines that state them: "rank17 INITIATOR". The
// word UNDETERMINED anywhere takes the decision back. The summary is the whole
// text, by which a test sees what was read.
func fakeAnalysis(ctx context.Context, files []analyzer.File, opts analyzer.Options) (*analyzer.Analysis, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text := make([]byte, files[0].Size)
	if _, err := files[0].Data.ReadAt(text, 0); err != nil && err != io.EOF {
		return nil, err
	}
	v := incident.Verdict{
		Status: incident.NoFailureFound, Title: "No failure found", Summary: string(text),
		GraphPoolIsCause: incident.Yes, Confidence: incident.Confirmed,
	}
	for _, m := range fakeLine.FindAllSubmatchIndex(text, -1) {
		var rank *int
		if m[2] >= 0 {
			n, _ := strconv.Atoi(string(text[m[2]:m[3]]))
			rank = &n
		}
		at := locate(files[0].Path, text, m[0], m[1])
		why := string(text[m[6]:m[7]])
		v.Status = incident.Diagnosed
		switch string(text[m[4]:m[5]]) {
		case "INITIATOR":
			v.Initiator = &incident.Initiator{Rank: rank, StatedAt: &at, Location: &at, FrameTrusted: true}
		case "BLOCK":
			at.EndLine, at.EndOffset = at.EndLine+1, int64(len(text))
			v.Initiator = &incident.Initiator{Rank: rank, Location: &at}
		case "ALSO":
			v.CoInitiators = append(v.CoInitiators, incident.Initiator{Rank: rank, StatedAt: &at})
		case "COLLATERAL":
			v.Collateral = append(v.Collateral, incident.Collateral{Rank: rank, Role: incident.RoleCollateral, Signature: "nccl-timeout", Location: at, Why: why})
		case "ECHO":
			v.Collateral = append(v.Collateral, incident.Collateral{Rank: rank, Role: incident.RoleEcho, Signature: "echo", Location: at, Why: why})
		case "EVIDENCE":
			v.Evidence = append(v.Evidence, incident.Evidence{Location: at, Says: why, For: incident.Supports})
		}
	}
	if v.Status == incident.Diagnosed {
		v.Title = "CUDA graph capture ran out of memory"
		if i := v.Initiator; i != nil && i.Rank != nil {
			v.Title = fmt.Sprintf("Rank %d started it: a CUDA graph capture ran out of memory", *i.Rank)
		}
		signature := "cuda-graph-capture-oom"
		v.Signature = &signature
		v.Fixes = []incident.Fix{{ID: "share-graph-pool", Title: "share one memory pool over the captures", Code: "pool = torch.cuda.graph_pool_handle()", Precondition: "the graphs are replayed one at a time"}}
		v.Verify = []incident.Verify{{Command: "python verify_pool.py shared", Expect: "one capture"}}
	}
	if strings.Contains(string(text), "UNDETERMINED") {
		v.Status, v.Fixes, v.Title = incident.Undetermined, nil, "Undetermined: rank 7 printed nothing"
		v.MissingFact = &incident.MissingFact{ID: "log", Fact: "what rank 7 printed", How: "kubectl logs trainer-7"}
	}
	return &analyzer.Analysis{Report: &incident.Report{
		SchemaVersion: incident.SchemaVersion, Verdict: v,
		Input: incident.Input{Files: []incident.File{{Path: files[0].Path, Bytes: files[0].Size}}},
	}}, nil
}

// locate makes a location as the analyzer does: lines end at LF only.
func locate(file string, text []byte, start, end int) incident.Location {
	line := int64(strings.Count(string(text[:start]), "\n") + 1)
	lineStart := strings.LastIndexByte(string(text[:start]), '\n') + 1
	return incident.Location{
		File: file, Line: line, EndLine: line, Column: start - lineStart + 1, EndColumn: end - lineStart + 1,
		Offset: int64(start), EndOffset: int64(end), Text: string(text[start:end]),
	}
}

// show prints diagnostics, one a line, for comparing.
func show(list []protocol.Diagnostic) string {
	var b strings.Builder
	severities := []string{"", "error", "warning", "information", "hint"}
	for _, d := range list {
		source, _ := d.Source.Get()
		fmt.Fprintf(&b, "%d:%d-%d:%d %s %s/%v %v", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Line, d.Range.End.Character,
			severities[d.Severity], source, d.Code, d.Message)
		if d.Tags.Len() > 0 {
			fmt.Fprintf(&b, " tags=%v", d.Tags.Slice())
		}
		for _, r := range d.RelatedInformation {
			fmt.Fprintf(&b, "\n  %d:%d %s", r.Location.Range.Start.Line, r.Location.Range.Start.Character, r.Message)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// hoverAt asks for the hover at a position; nil when there is none.
func hoverAt(c *lsptest.Client, uri string, line, character int) *protocol.Hover {
	var h *protocol.Hover
	c.Call("textDocument/hover", object{
		"textDocument": object{"uri": uri}, "position": object{"line": line, "character": character},
	}, &h)
	return h
}

// read asks for the text of an open document as the server has it, by way of the
// fake summary.
func read(c *lsptest.Client, uri string) string {
	var r struct {
		Verdict struct {
			Summary string `json:"summary"`
		} `json:"verdict"`
	}
	c.Call("workspace/executeCommand", command(object{"uri": uri}), &r)
	return r.Verdict.Summary
}

func command(argument any) object {
	return object{"command": "graphtrap.diagnose", "arguments": []any{argument}}
}

// blockedWriter is the input of a client that reads one message and then no more.
type blockedWriter struct {
	writes                 atomic.Int32
	first, second, release chan struct{}
}

func (w *blockedWriter) Write(p []byte) (int, error) {
	switch w.writes.Add(1) {
	case 1:
		close(w.first)
		return len(p), nil
	case 2:
		close(w.second)
	}
	<-w.release
	return len(p), nil
}
