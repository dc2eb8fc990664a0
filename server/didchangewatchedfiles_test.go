package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// watchesFiles makes an editor that tells of changed files when it is asked to.
func watchesFiles(relative bool) func(object) {
	return func(p object) {
		lsptest.Set(p, object{"dynamicRegistration": true, "relativePatternSupport": relative}, "capabilities", "workspace", "didChangeWatchedFiles")
	}
}

// watchers are the patterns of the nth registration, printed.
func watchers(t *testing.T, c *lsptest.Client, n int) (id string, patterns []string) {
	t.Helper()
	var p struct {
		Registrations []struct {
			ID, Method      string
			RegisterOptions struct {
				Watchers []struct{ GlobPattern json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal(c.Notification("client/registerCapability", n), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Registrations) != 1 || p.Registrations[0].Method != "workspace/didChangeWatchedFiles" {
		t.Fatalf("registered %+v", p)
	}
	for _, w := range p.Registrations[0].RegisterOptions.Watchers {
		var relative struct{ BaseURI, Pattern string }
		var whole string
		if json.Unmarshal(w.GlobPattern, &whole) == nil {
			patterns = append(patterns, whole)
		} else if err := json.Unmarshal(w.GlobPattern, &relative); err == nil {
			patterns = append(patterns, relative.BaseURI+" "+relative.Pattern)
		}
	}
	return p.Registrations[0].ID, patterns
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func fileChanged(c *lsptest.Client, path string) {
	c.Notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": string(uri.File(path)), "type": 2}}})
}

func diagnosePath(c *lsptest.Client, path string) {
	c.Call("workspace/executeCommand", command(object{"path": path}), nil)
}

// A log that was diagnosed by its path is shown, and followed until the editor has it.
func TestALogOnDiskIsFollowed(t *testing.T) {
	for _, relative := range []bool{true, false} {
		t.Run(fmt.Sprint(relative), func(t *testing.T) {
			dir := workspace(t, map[string]string{"logs [1]/train.log": "é rank1 INITIATOR\n"})
			path := filepath.Join(dir, "logs [1]", "train.log")
			where := string(uri.File(path))
			c, _ := start(t, server.Config{Debounce: time.Millisecond})
			c.Initialize(string(uri.File(dir)), watchesFiles(relative))
			t.Cleanup(c.Shutdown)
			diagnosePath(c, path)
			eventually(t, c, where, "the diagnostics of a log on disk", func(shown string) bool {
				return strings.HasPrefix(shown, "0:3-0:18 error graphtrap/cuda-graph-capture-oom rank 1 started it") // utf-8
			})
			want := filepath.ToSlash(dir) + "/logs ?1?/train.log"
			if relative {
				want = string(uri.File(filepath.Dir(path))) + " train.log"
			}
			if _, got := watchers(t, c, 1); len(got) != 1 || got[0] != want {
				t.Errorf("watchers %q, want %q", got, want)
			}
			write(t, path, "\n\nrank2 INITIATOR\n")
			fileChanged(c, path)
			eventually(t, c, where, "the change", func(shown string) bool { return strings.HasPrefix(shown, "2:0-2:15 error") })
			// The editor opens it: now it is a document, which has other text so far.
			c.Open(where, "log", 1, "rank3 INITIATOR")
			c.Diagnostics(where, 1)
			write(t, path, "rank4 INITIATOR\n")
			fileChanged(c, path)
			c.Call("workspace/executeCommand", command(object{"text": "x"}), nil)
			time.Sleep(20 * time.Millisecond)
			if list := c.Publications(where); !strings.Contains(show(list[len(list)-1].Diagnostics), "rank 3 started it") {
				t.Error("an open document was diagnosed from the disk")
			}
			c.Close(where)
			c.Cleared(where)
		})
	}
}

func TestALogOnDiskThatGoesAway(t *testing.T) {
	dir := workspace(t, map[string]string{"train.log": "rank1 INITIATOR\n"})
	path := filepath.Join(dir, "train.log")
	where := string(uri.File(path))
	c, _ := start(t, server.Config{Debounce: time.Millisecond})
	c.Initialize("", watchesFiles(true))
	t.Cleanup(c.Shutdown)
	diagnosePath(c, path)
	eventually(t, c, where, "its diagnostics", func(shown string) bool { return shown != "" })
	watchers(t, c, 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c.Notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": where, "type": 3}}})
	c.Cleared(where)
}

// What has no lines to show diagnostics on, and what the editor cannot watch, is only
// read.
func TestLogsThatAreNotFollowed(t *testing.T) {
	dir := workspace(t, map[string]string{
		"train.log.gz": packed(strings.Repeat("fine\n", 100) + "rank1 INITIATOR\n"), "logs/rank_1.log": "rank1 INITIATOR\n", "train.log": "rank1 INITIATOR\n",
		"large.log": "rank1 INITIATOR\n" + strings.Repeat("x", 1000),
	})
	c, _ := start(t, server.Config{Debounce: time.Millisecond})
	c.Initialize("", func(p object) {
		watchesFiles(true)(p)
		options(object{"maxDocumentBytes": 1000})(p)
	})
	t.Cleanup(c.Shutdown)
	for _, name := range []string{"train.log.gz", "logs", "large.log"} {
		diagnosePath(c, filepath.Join(dir, name))
	}
	diagnosePath(c, filepath.Join(dir, "train.log"))
	eventually(t, c, string(uri.File(filepath.Join(dir, "train.log"))), "the one that is shown", func(shown string) bool { return shown != "" })
	if n := c.Count("textDocument/publishDiagnostics"); n != 1 {
		t.Errorf("%d publications", n)
	}
	for n := 1; ; n++ {
		if _, got := watchers(t, c, n); len(got) == 4 {
			if want := string(uri.File(filepath.Join(dir, "logs"))) + " **"; got[1] != want {
				t.Errorf("watchers %q", got)
			}
			break
		}
	}
	for c.Count("client/unregisterCapability")+1 < c.Count("client/registerCapability") {
		time.Sleep(time.Millisecond) // the older ones are being taken back
	}

	c, _ = start(t, server.Config{})
	c.Initialize("", nil)
	t.Cleanup(c.Shutdown)
	diagnosePath(c, filepath.Join(dir, "train.log"))
	fileChanged(c, filepath.Join(dir, "train.log"))
	c.Call("workspace/executeCommand", command(object{"text": "x"}), nil)
	if n := c.Count("client/registerCapability") + c.Count("textDocument/publishDiagnostics"); n > 0 {
		t.Errorf("%d messages to an editor that watches no files", n)
	}
}

// A new registration replaces the one before.
func TestOneRegistrationIsInForce(t *testing.T) {
	dir := workspace(t, map[string]string{"a.log": "x", "b.log": "x"})
	c, _ := start(t, server.Config{Debounce: time.Millisecond})
	c.Initialize("", watchesFiles(true))
	t.Cleanup(c.Shutdown)
	diagnosePath(c, filepath.Join(dir, "a.log"))
	first, _ := watchers(t, c, 1)
	diagnosePath(c, filepath.Join(dir, "b.log"))
	second, patterns := watchers(t, c, 2)
	if first == second || len(patterns) != 2 {
		t.Errorf("%s, then %s with %q", first, second, patterns)
	}
	if gone := string(c.Notification("client/unregisterCapability", 1)); !strings.Contains(gone, `"`+first+`"`) || !strings.Contains(gone, `"unregisterations"`) {
		t.Errorf("unregistered %s", gone)
	}
	diagnosePath(c, filepath.Join(dir, "a.log")) // known already
	time.Sleep(20 * time.Millisecond)
	if n := c.Count("client/registerCapability"); n != 2 {
		t.Errorf("%d registrations", n)
	}
}

func TestTheReportOfAChangedFolderIsRefreshed(t *testing.T) {
	dir := workspace(t, map[string]string{"logs/sub/rank_1.log": "rank1 INITIATOR\n"})
	c, _ := start(t, server.Config{Debounce: time.Millisecond})
	c.Initialize("", func(p object) { watchesFiles(true)(p); readsReports(p) })
	t.Cleanup(c.Shutdown)
	report := "graphtrap:report?" + string(uri.File(filepath.Join(dir, "logs")))
	content(c, report)
	watchers(t, c, 1)
	write(t, filepath.Join(dir, "logs", "sub", "rank_1.log"), "rank2 INITIATOR\n")
	fileChanged(c, filepath.Join(dir, "logs", "sub", "rank_1.log"))
	if p := string(c.Notification("workspace/textDocumentContent/refresh", 1)); p != `{"uri":"`+report+`"}` {
		t.Errorf("refreshed %s", p)
	}
	if got := content(c, report); !strings.HasPrefix(got, "# Rank 2 started it") {
		t.Errorf("report %.80s", got)
	}
}

func TestSourcesThatAFixTouchesAreWatched(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"train.log", "train.py", "engine/graphs.py"} {
		text, err := os.ReadFile(filepath.Join("../testdata/cases/sixty-four-ranks", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	c, _ := startReal(t)
	c.Initialize(string(uri.File(dir)), func(p object) {
		watchesFiles(true)(p)
		lsptest.Set(p, object{"refreshSupport": true}, "capabilities", "workspace", "codeLens")
	})
	t.Cleanup(c.Shutdown)
	text, err := os.ReadFile(filepath.Join(dir, "train.log"))
	if err != nil {
		t.Fatal(err)
	}
	log := string(uri.File(filepath.Join(dir, "train.log")))
	c.Open(log, "log", 1, string(text))
	d := c.Diagnostics(log, 1)
	var actions []json.RawMessage
	c.Call("textDocument/codeAction", object{
		"textDocument": object{"uri": log}, "range": d[0].Range, "context": object{"diagnostics": []any{}},
	}, &actions)
	_, got := watchers(t, c, 1)
	if len(got) != 1 || !strings.HasSuffix(got[0], "graphs.py") {
		t.Fatalf("watchers %q after %s", got, actions)
	}
	before := c.Count("workspace/codeLens/refresh")
	fileChanged(c, filepath.Join(dir, "engine", "graphs.py"))
	c.Notification("workspace/codeLens/refresh", before+1)
}

func TestSignaturesAreReadAgainWhenTheyChange(t *testing.T) {
	dir := workspace(t, map[string]string{"sigs/messages/ours.toml": strings.ReplaceAll(ownSignature, "our-trainer-gave-up", "another-id"), "sigs/failures/our-failure.toml": ownFailure})
	c, _ := startReal(t)
	c.Initialize(string(uri.File(dir)), func(p object) {
		watchesFiles(true)(p)
		options(object{"signatureFolder": "sigs"})(p)
	})
	t.Cleanup(c.Shutdown)
	log := string(uri.File(filepath.Join(dir, "train.log")))
	c.Open(log, "log", 1, "[rank3]: our trainer gave up in step 7\n")
	if message := string(c.Notification("window/showMessage", 1)); !strings.Contains(message, "failures/our-failure.toml:") {
		t.Errorf("message %s", message)
	}
	if _, got := watchers(t, c, 1); len(got) != 1 || got[0] != string(uri.File(filepath.Join(dir, "sigs")))+" **/*.toml" {
		t.Errorf("watchers %q", got)
	}
	write(t, filepath.Join(dir, "sigs", "messages", "ours.toml"), ownSignature)
	fileChanged(c, filepath.Join(dir, "sigs", "messages", "ours.toml"))
	eventually(t, c, log, "the new signature", func(shown string) bool { return strings.Contains(shown, "our-failure") })
}

func TestOddChangesOfFiles(t *testing.T) {
	c, _ := start(t, server.Config{})
	c.Initialize("", watchesFiles(true))
	t.Cleanup(c.Shutdown)
	for _, params := range []string{
		`null`, `{}`, `{"changes":null}`, `{"changes":[{"uri":"","type":1}]}`, `{"changes":[{"uri":"untitled:x","type":1}]}`,
		`{"changes":[{"uri":"file:///nowhere","type":9}]}`, `{"changes":[{}]}`, `{"changes":[{"uri":1}]}`,
	} {
		c.Frame(`{"jsonrpc":"2.0","method":"workspace/didChangeWatchedFiles","params":` + params + `}`)
	}
	c.Call("workspace/executeCommand", command(object{"text": "x"}), nil)
}
