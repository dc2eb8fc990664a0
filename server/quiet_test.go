package server_test

import (
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

const (
	memoryMessage = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.10 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this process has 78.05 GiB memory in use. Of the allocated memory 72.10 GiB is allocated by PyTorch, and 5.20 GiB is reserved by PyTorch but unallocated.\n"
	captureLog    = "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"/app/train.py\", line 88, in capture\n[rank3]:     with torch.cuda.graph(g):\n[rank3]: " + memoryMessage
	healthyLog    = "[rank3]: step 12 loss 6.9\n[rank3]: step 13 loss 6.8\n"
	anyException  = "starting the language server\nTraceback (most recent call last):\n  File \"/ext/server.py\", line 3, in run\n    raise ValueError(1)\nValueError: 1\n"
)

// prose quotes a failure; it states none.
const prose = `Running out of memory in a capture
==================================

If the second capture fails with a message like the one below, the memory of the
first graph cannot be used for anything else while that graph is alive. You then
see the failure on one rank, and all the others wait for it until they time out.

    ` + memoryMessage + `
Make one pool with graph_pool_handle() before the loop and pass it to each of the
captures. That is safe as long as the graphs are replayed one after the other.
`

// nothingSaid asks for all that an editor asks for by itself, and fails the test
// if there is any answer.
func nothingSaid(t *testing.T, c *lsptest.Client, uri string) {
	t.Helper()
	document := object{"textDocument": object{"uri": uri}}
	for _, method := range []string{
		"textDocument/codeLens", "textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/documentLink",
	} {
		m := c.Start(method, document).Response()
		if m.Error == nil && string(m.Result) != "null" && string(m.Result) != "[]" {
			t.Errorf("%s of %s: %s", method, uri, m.Result)
		}
	}
	ranged := object{"textDocument": object{"uri": uri}, "range": lsptest.Span(0, 0, 99, 0), "context": object{"diagnostics": []object{}}}
	for _, method := range []string{"textDocument/inlayHint", "textDocument/codeAction"} {
		m := c.Start(method, ranged).Response()
		if m.Error == nil && string(m.Result) != "null" && string(m.Result) != "[]" {
			t.Errorf("%s of %s: %s", method, uri, m.Result)
		}
	}
	if n := len(c.Publications(uri)); n > 0 {
		t.Errorf("%s: diagnostics were published %d times", uri, n)
	}
}

// TestQuiet: nothing is said of what is no log, and of what may be one but says
// nothing of a failed job; with the real analysis.
func TestQuiet(t *testing.T) {
	quiet := []struct{ uri, language, text string }{
		{"untitled:Untitled-1", "plaintext", captureLog},
		{"untitled:Untitled-2", "log", healthyLog},
		{"untitled:Untitled-3", "log", anyException},
		{"untitled:Untitled-4", "log", prose},
		{"untitled:Untitled-5", "python", captureLog},
		{"output:extension-output-#1-Train", "Log", anyException},
		{"output:extension-output-#2-Python", "log", healthyLog},
		{"output:extension-output-#3-Python", "log", ""},
		{"file:///w/README.txt", "plaintext", captureLog},
		{"file:///w/notes.txt", "plaintext", prose},
		{"file:///w/server.txt", "plaintext", anyException},
		{"file:///w/README", "plaintext", captureLog},
		{"file:///w/README.md", "markdown", captureLog},
		{"file:///w/docs/graphs.rst", "restructuredtext", captureLog},
		{"file:///w/train.py", "python", "try:\n    step()\nexcept torch.OutOfMemoryError:\n    raise RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB')\n"},
		{"file:///w/logger.go", "go", captureLog},
		{"file:///w/job.yaml", "yaml", "env:\n  NCCL_DEBUG: INFO\n"},
		{"file:///w/log4j.properties", "properties", "log4j.rootLogger=INFO\n"},
		{"file:///w/changelog", "plaintext", captureLog},
		{"file:///w/requirements.txt", "pip-requirements", "torch==2.9.1\n"},
		{"git:/w/train.py?%7B%7D", "python", captureLog},
	}
	c := session(t, server.Config{Analyze: realAnalysis})
	for _, d := range quiet {
		c.Open(d.uri, d.language, 1, d.text)
	}
	loud := []struct{ uri, language, text string }{
		{"untitled:Untitled-6", "log", captureLog},
		{"output:extension-output-#4-Train", "Log", healthyLog + captureLog},
		{"file:///w/train.txt", "plaintext", healthyLog + captureLog},
		{"file:///w/out.log", "plaintext", anyException},
		{"file:///w/worker.err.1", "", captureLog},
		{"file:///w/job", "log", captureLog},
	}
	for _, d := range loud {
		c.Open(d.uri, d.language, 1, d.text)
	}
	for _, d := range loud {
		if found := c.Diagnostics(d.uri, 1); len(found) != 1 {
			t.Errorf("%s (%s): %d diagnostics, want one\n%s", d.uri, d.language, len(found), show(found))
		}
	}
	for _, d := range quiet {
		nothingSaid(t, c, d.uri)
	}
}

// TestAMarkerMakesALog of what may be one, and its end makes it none.
func TestAMarkerMakesALog(t *testing.T) {
	c := session(t, server.Config{Analyze: realAnalysis})
	c.Ignore(requestsOfServers...)
	for _, uri := range []string{"output:extension-output-#1-Train", "file:///w/train.txt"} {
		language := map[bool]string{true: "log", false: "plaintext"}[strings.HasPrefix(uri, "output")]
		c.Open(uri, language, 1, healthyLog)
		c.Change(uri, 2, object{"range": lsptest.Span(2, 0, 2, 0), "text": healthyLog})
		c.Change(uri, 3, object{"range": lsptest.Span(4, 0, 4, 0), "text": captureLog})
		if found := c.Diagnostics(uri, 3); len(found) != 1 || found[0].Range.Start.Line != 7 {
			t.Errorf("%s:\n%s", uri, show(found))
		}
		for _, p := range c.Publications(uri) {
			if v, _ := p.Version.Get(); v < 3 {
				t.Errorf("%s: version %d was published", uri, v)
			}
		}
		if hoverAt(c, uri, 7, 20) == nil {
			t.Errorf("%s: no hover", uri)
		}
		c.Change(uri, 4, object{"text": prose})
		if found := c.Diagnostics(uri, 4); len(found) != 0 {
			t.Errorf("%s, after the failure is gone:\n%s", uri, show(found))
		}
		c.Change(uri, 5, object{"text": prose + prose})
		c.Call("workspace/executeCommand", command(object{"uri": uri}), nil)
		c.Diagnostics(uri, 5) // it was asked for
		c.Close(uri)
		c.Cleared(uri)
	}
}

// TestQuietWhenPulled: the same for an editor that asks, which is told to ask again
// when it shows that a document is a log.
func TestQuietWhenPulled(t *testing.T) {
	c := pullSession(t, server.Config{Analyze: realAnalysis})
	c.Ignore("workspace/inlayHint/refresh", "workspace/semanticTokens/refresh", "workspace/codeLens/refresh")
	const channel = "output:extension-output-#1-Train"
	c.Open(channel, "Log", 1, healthyLog+anyException)
	if r := pullDocument(c, channel, ""); r.Kind != "full" || len(r.Items) != 0 || r.ResultID != "" {
		t.Errorf("%+v", r)
	}
	if m := c.Start("workspace/diagnostic", workspaceParams("", nil)).Response(); len(reports(t, m.Result)) != 0 {
		t.Errorf("the workspace: %s", m.Result)
	}
	c.Change(channel, 2, object{"text": healthyLog + captureLog})
	c.Notification("workspace/diagnostic/refresh", 1)
	if r := pullDocument(c, channel, ""); len(r.Items) != 1 {
		t.Errorf("%+v", r)
	}
	m := c.Start("workspace/diagnostic", workspaceParams("", nil)).Response()
	all := reports(t, m.Result)
	if len(all) != 1 || len(all[channel].Items) != 1 {
		t.Errorf("the workspace: %+v", all)
	}
	c.Change(channel, 3, object{"text": prose})
	c.Notification("workspace/diagnostic/refresh", 2)
	if r := pullDocument(c, channel, all[channel].ResultID); r.Kind != "full" || len(r.Items) != 0 {
		t.Errorf("%+v", r)
	}
	m = c.Start("workspace/diagnostic", workspaceParams("", map[string]string{channel: all[channel].ResultID})).Response()
	if all := reports(t, m.Result); len(all) != 1 || all[channel].Kind != "full" || len(all[channel].Items) != 0 {
		t.Errorf("the workspace, when it is none any more: %+v", all)
	}
}
