// Package endtoend_test runs the program itself, as an editor does.
package endtoend_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/server/lsptest"
)

type object = lsptest.Object

// program is the built program.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "graphtrap")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "graphtrap")
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		build := exec.Command("go", "build", "-o", program, "github.com/graphtrap/graphtrap/cmd/graphtrap")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// serve starts the program and connects a client to it. status waits for its end.
func serve(t *testing.T, arguments ...string) (c *lsptest.Client, status func() int) {
	t.Helper()
	return lsptest.Start(t, program, append([]string{"serve"}, arguments...)...)
}

func TestExitStatus(t *testing.T) {
	tests := map[string]struct {
		end  func(*lsptest.Client)
		want int
	}{
		"shutdown and exit, input left open": {(*lsptest.Client).Shutdown, 0},
		"exit only":                          {func(c *lsptest.Client) { c.Notify("exit", nil) }, 1},
		"end of input":                       {(*lsptest.Client).Hang, 1},
		"half a frame":                       {func(c *lsptest.Client) { c.Raw("Content-Length: 9\r\n\r\n{"); c.Hang() }, 1},
		"output that nobody takes":           {func(c *lsptest.Client) { c.Deafen(); c.Open("file:///a.log", "log", 1, "x") }, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, status := serve(t, "--stdio")
			c.Initialize("", nil)
			tt.end(c)
			if code := status(); code != tt.want {
				t.Errorf("exit status %d, want %d", code, tt.want)
			}
		})
	}
	for _, arguments := range [][]string{
		{"--no-such-flag"}, {"extra"}, {"--log-level", "loud"}, {"--log-file", filepath.Join(t.TempDir(), "no", "such", "folder")}, {"--parent-pid", "x"},
	} {
		t.Run(strings.Join(arguments, " "), func(t *testing.T) {
			cmd := exec.Command(program, append([]string{"serve"}, arguments...)...)
			out, err := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != 2 || len(out) > 0 {
				t.Errorf("exit status %d (%v), output %q; want 2 and nothing on standard output", code, err, out)
			}
		})
	}
}

func TestAParentThatIsGoneAlready(t *testing.T) {
	_, status := serve(t, "--parent-pid", strconv.Itoa(1<<30))
	if code := status(); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
}

// TestTheServerEndsWithItsParent although its input stays open.
func TestTheServerEndsWithItsParent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	for name, script := range map[string]string{
		"named by a flag":     `"$0" serve --parent-pid $$ <&3 & wait`,
		"named by the client": `"$0" serve <&3 & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			serverIn, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer serverIn.Close() // the server's input does not end before the test does
			out, serverOut, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			shell := exec.Command("sh", "-c", script, program)
			shell.ExtraFiles = []*os.File{serverIn}
			shell.Stdout = serverOut
			if err := shell.Start(); err != nil {
				t.Fatal(err)
			}
			serverOut.Close()
			ended := make(chan struct{})
			c := lsptest.Connect(t, in, &notifying{out, ended})
			c.Initialize("", func(p object) {
				if name == "named by a flag" {
					p["processId"] = nil
				} else {
					p["processId"] = shell.Process.Pid
				}
			})
			select {
			case <-ended:
				t.Fatal("the server ended before its parent")
			case <-time.After(1500 * time.Millisecond):
			}
			if err := shell.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended:
			case <-time.After(lsptest.Patience):
				t.Error("the server is still there")
			}
			_ = shell.Wait() // only now: until here it was a zombie with its number
		})
	}
}

// notifying tells when what it reads has ended.
type notifying struct {
	io.ReadCloser
	ended chan struct{}
}

func (n *notifying) Read(p []byte) (int, error) {
	k, err := n.ReadCloser.Read(p)
	if err != nil {
		close(n.ended)
	}
	return k, err
}

// TestTheLogIsJSONAndHasNoText of documents.
func TestTheLogIsJSONAndHasNoText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	c, status := serve(t, "--log-file", path, "--log-level", "info")
	c.Initialize("", nil)
	const secret = "swordfish"
	c.Open("file:///a/"+"train.log", "log", 1, secret+"\n[rank0]: Traceback (most recent call last):\n[rank0]: ValueError: "+secret+"\n")
	c.Diagnostics("file:///a/train.log", 1)
	c.Frame(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a/train.log","version":2},"contentChanges":[{"text":["` + secret + `"]}]}}`)
	c.Frame(`{"` + secret + `"}`)
	c.Notification("window/showMessage", 1)
	c.Shutdown()
	if code := status(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		lines++
		var entry struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level == "" || entry.Msg == "" {
			t.Errorf("%q is no line of the log: %v", line, err)
		}
	}
	if lines < 2 {
		t.Errorf("%d lines were logged", lines)
	}
	if strings.Contains(string(text), secret) {
		t.Errorf("the log has text of a document:\n%s", text)
	}
}

// TestFromATracebackToAnEditedSource is what a user does with the shipped case:
// opens the log, reads what is on the line, takes the fix.
func TestFromATracebackToAnEditedSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "cases", "sixty-four-ranks"))); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("the shipped case is not here")
		}
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "train.log"))
	if err != nil {
		t.Fatal(err)
	}
	failing := failingLine(t, string(text))

	c, status := serve(t, "--stdio")
	c.Initialize(string(uri.File(dir)), nil)
	log := string(uri.File(filepath.Join(dir, "train.log")))
	c.Open(log, "log", 1, string(text))

	// The problems.
	found := c.Diagnostics(log, 1)
	var fault *protocol.Diagnostic
	hints := 0
	for i, d := range found {
		switch d.Severity {
		case protocol.DiagnosticSeverityError:
			if fault != nil {
				t.Errorf("a second error: %v", d.Message)
			}
			fault = &found[i]
		case protocol.DiagnosticSeverityHint:
			hints++
			if !slices.Contains(d.Tags.Slice(), protocol.DiagnosticTagUnnecessary) || !strings.Contains(fmt.Sprint(d.Message), "of rank 17 (line ") {
				t.Errorf("hint %v, tags %v", d.Message, d.Tags.Slice())
			}
		}
	}
	if fault == nil {
		t.Fatalf("no error among %d diagnostics", len(found))
	}
	if !strings.HasPrefix(fmt.Sprint(fault.Message), "rank 17 started it: ") || fault.Code != protocol.String("cuda-graph-capture-oom") {
		t.Errorf("error %v: %v", fault.Code, fault.Message)
	}
	if int(fault.Range.Start.Line) != failing {
		t.Errorf("the error is on line %d, want %d", fault.Range.Start.Line, failing)
	}
	if len(fault.RelatedInformation) == 0 || hints < 2 {
		t.Errorf("%d related lines and %d hints", len(fault.RelatedInformation), hints)
	}

	// The hover.
	var hover protocol.Hover
	c.Call("textDocument/hover", object{
		"textDocument": object{"uri": log}, "position": object{"line": failing, "character": 20},
	}, &hover)
	content, ok := hover.Contents.(*protocol.MarkupContent)
	if !ok || !strings.Contains(content.Value, "Rank 17 started it") || !strings.Contains(content.Value, "pool") {
		t.Errorf("hover %+v", hover.Contents)
	} else if n := strings.Count(content.Value, "\n") + 1; n > 15 {
		t.Errorf("the hover has %d lines:\n%s", n, content.Value)
	}

	// The fix.
	var actions []protocol.CodeAction
	c.Call("textDocument/codeAction", object{
		"textDocument": object{"uri": log}, "range": lsptest.Span(failing, 0, failing, 0),
		"context": object{"diagnostics": []object{}},
	}, &actions)
	i := slices.IndexFunc(actions, func(a protocol.CodeAction) bool { return strings.HasPrefix(a.Title, "Share one graph pool") })
	if i < 0 {
		t.Fatalf("no action shares a pool: %+v", actions)
	}
	if want := "Share one graph pool over the captures in graphs.py:29"; actions[i].Title != want {
		t.Errorf("title %q, want %q", actions[i].Title, want)
	}
	if !slices.ContainsFunc(actions, func(a protocol.CodeAction) bool { return a.Command.Command == "graphtrap.copyText" }) {
		t.Error("no action copies the check")
	}
	source := filepath.Join(dir, "engine", "graphs.py")
	apply(t, source, actions[i].Edit)
	checkSource(t, source)

	c.Close(log)
	c.Cleared(log)
	c.Shutdown()
	if code := status(); code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
}

// failingLine is the number, as an editor counts, of the line with which rank 17 failed.
func failingLine(t *testing.T, text string) int {
	t.Helper()
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "[rank17]: torch.OutOfMemoryError: CUDA out of memory") {
			return i
		}
	}
	t.Fatal("the log has no failure of rank 17")
	return 0
}

// apply makes the edit of one file on disk, as an editor would. The file is ASCII.
func apply(t *testing.T, path string, edit *protocol.WorkspaceEdit) {
	t.Helper()
	if edit == nil || len(edit.DocumentChanges) != 1 {
		t.Fatalf("edit %+v, want one file changed", edit)
	}
	change := edit.DocumentChanges[0].(*protocol.TextDocumentEdit)
	if change.TextDocument.URI != uri.File(path) {
		t.Fatalf("the edit is of %s, want %s", change.TextDocument.URI, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	offset := func(p protocol.Position) int { return len(strings.Join(lines[:p.Line], "")) + int(p.Character) }
	out := string(text)
	for _, e := range slices.Backward(change.Edits) {
		annotated := e.(*protocol.AnnotatedTextEdit)
		out = out[:offset(annotated.Range.Start)] + annotated.NewText + out[offset(annotated.Range.End):]
	}
	if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkSource checks that the captures of the loop share one handle, made before
// it, and that Python takes the file.
func checkSource(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	handle, loop, capture := 0, 0, 0
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.Contains(line, "graph_pool_handle()"):
			if handle != 0 {
				t.Errorf("a second handle on line %d", n)
			}
			handle = n
		case strings.HasPrefix(line, "for shape in sorted("):
			loop = n
		case strings.HasPrefix(line, "with torch.cuda.graph("):
			capture = n
			if !strings.Contains(line, "pool=") {
				t.Errorf("line %d passes no pool: %s", n, line)
			}
		}
	}
	if handle == 0 || handle > loop || loop > capture {
		t.Errorf("handle on line %d, loop on %d, capture on %d", handle, loop, capture)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("there is no python3 to compile the result with")
		return
	}
	if out, err := exec.Command(python, "-m", "py_compile", path).CombinedOutput(); err != nil {
		t.Errorf("the result does not compile: %v\n%s", err, out)
	}
}
