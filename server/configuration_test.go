package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// configurable makes the params of initialize those of an editor that can be asked
// for settings and registers for their changes.
func configurable(p object) {
	lsptest.Set(p, true, "capabilities", "workspace", "configuration")
	lsptest.Set(p, object{"dynamicRegistration": true}, "capabilities", "workspace", "didChangeConfiguration")
}

// options makes an editor that gives settings in initialize and can do nothing else
// about them.
func options(value any) func(object) {
	return func(p object) { p["initializationOptions"] = value }
}

// store are the settings of an editor that can be asked for them.
type store struct {
	mu    sync.Mutex
	all   map[string]object // by scope; "" is everywhere
	asked [][]string        // scopes, by request
}

func (s *store) set(scope string, values object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]object{}
	}
	s.all[scope] = values
}

func (s *store) answer(params json.RawMessage) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p struct {
		Items []struct{ ScopeURI, Section string }
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.InvalidParams, Message: err.Error()}
	}
	answers, scopes := []any{}, []string{}
	for _, item := range p.Items {
		scopes = append(scopes, item.ScopeURI)
		switch values, ok := s.all[item.ScopeURI]; {
		case item.Section != "graphtrap":
			return &jsonrpc2.Error{Code: jsonrpc2.InvalidParams, Message: "section " + item.Section}
		case ok:
			answers = append(answers, values)
		case s.all[""] != nil:
			answers = append(answers, s.all[""])
		default:
			answers = append(answers, nil)
		}
	}
	s.asked = append(s.asked, scopes)
	return answers
}

// requests waits until it was asked, and returns for what, each time.
func (s *store) requests() [][]string {
	for limit := time.Now().Add(lsptest.Patience); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		asked := slices.Clone(s.asked)
		s.mu.Unlock()
		if len(asked) > 0 {
			return asked
		}
	}
	return nil
}

// severities waits for the diagnostics of a version and prints what they are.
func severities(c *lsptest.Client, uri string, version int32) string {
	return levels(show(c.Diagnostics(uri, version)))
}

func levels(shown string) string {
	var list []string
	for line := range strings.Lines(shown) {
		if fields := strings.Fields(line); !strings.HasPrefix(line, " ") && len(fields) > 1 {
			list = append(list, fields[1])
		}
	}
	return strings.Join(list, " ")
}

// eventually waits until the last publication of a document satisfies ok.
func eventually(t *testing.T, c *lsptest.Client, uri, what string, ok func(shown string) bool) {
	t.Helper()
	last := "nothing"
	for limit := time.Now().Add(lsptest.Patience); time.Now().Before(limit); time.Sleep(2 * time.Millisecond) {
		if list := c.Publications(uri); len(list) > 0 {
			if last = show(list[len(list)-1].Diagnostics); ok(last) {
				return
			}
		}
	}
	t.Fatalf("%s was not to be seen; the last diagnostics are\n%s", what, last)
}

const twoFailures = "rank1 COLLATERAL waited\nrank2 INITIATOR oom\nrank3 COLLATERAL waited\nrank4 ECHO again\n"

func TestSettingsOfInitialize(t *testing.T) {
	for name, tt := range map[string]struct {
		options any
		want    string
	}{
		"none":                   {nil, "error hint hint hint"},
		"not graphtrap's":        {object{"graphtrap": nil}, "error hint hint hint"},
		"as a section":           {object{"graphtrap": object{"collateralSeverity": "information"}, "other": 1}, "error information information information"},
		"as they are":            {object{"collateralSeverity": "warning"}, "error warning warning warning"},
		"no collateral":          {object{"collateralSeverity": "none"}, "error"},
		"but one rank's":         {object{"collateralSeverity": "none", "rankOfInterest": 3}, "error hint"},
		"a failure suppressed":   {object{"suppressions": []string{"cuda-graph-capture-oom"}}, "hint hint hint"},
		"a message suppressed":   {object{"suppressions": []string{"nccl-timeout"}}, "error hint"},
		"all failures and lines": {object{"suppressions": []string{"cuda-graph-capture-oom"}, "collateralSeverity": "none"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := start(t, server.Config{})
			c.Initialize("", options(tt.options))
			t.Cleanup(c.Shutdown)
			c.Open(logURI, "log", 1, twoFailures)
			if got := severities(c, logURI, 1); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if n := c.Count("workspace/configuration") + c.Count("client/registerCapability") + c.Count("window/showMessage"); n > 0 {
				t.Errorf("%d messages to an editor that cannot be asked", n)
			}
		})
	}
}

func TestTheRankOfInterestComesFirst(t *testing.T) {
	c, _ := start(t, server.Config{})
	c.Initialize("", options(object{"rankOfInterest": 19}))
	t.Cleanup(c.Shutdown)
	text := "rank0 INITIATOR\n"
	for rank := 1; rank <= 20; rank++ {
		text += fmt.Sprintf("rank%d COLLATERAL waited\n", rank)
	}
	c.Open(logURI, "log", 1, text)
	d := c.Diagnostics(logURI, 1)
	if r := d[0].RelatedInformation; len(r) != 6 || !strings.Contains(r[0].Message, "rank 19") || !strings.Contains(r[1].Message, "rank 1:") {
		t.Errorf("related: %+v", r)
	}
}

func TestMessageIDsAreSuppressed(t *testing.T) {
	log, err := os.ReadFile("../testdata/cases/sixty-four-ranks/train.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"torch-oom", "cuda-graph-capture-oom"} {
		c := realSession(t, options(object{"suppressions": []string{id}}))
		c.Open(logURI, "log", 1, string(log))
		if got := severities(c, logURI, 1); strings.Contains(got, "error") || !strings.HasPrefix(got, "hint") {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// startReal is [start] with the real analysis.
func startReal(t *testing.T) (*lsptest.Client, func() int) {
	t.Helper()
	log := zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel))
	return lsptest.Run(t, func(in io.Reader, out io.Writer) int {
		return server.New(server.Config{Version: "test", Log: log}).Serve(context.Background(), in, out)
	})
}

// realSession is a session with the real analysis.
func realSession(t *testing.T, change func(object)) *lsptest.Client {
	t.Helper()
	c, _ := startReal(t)
	c.Initialize("", change)
	t.Cleanup(c.Shutdown)
	return c
}

func TestSettingsAreAskedFor(t *testing.T) {
	c, _ := start(t, server.Config{})
	var s store
	s.set("", object{"collateralSeverity": "warning"})
	c.Answer("workspace/configuration", s.answer)
	c.Initialize("", configurable)
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, twoFailures)
	// The document waited for the answer: nothing else was shown before.
	if got := severities(c, logURI, 1); got != "error warning warning warning" || len(c.Publications(logURI)) != 1 {
		t.Errorf("got %q at first, in %d publications", got, len(c.Publications(logURI)))
	}
	if got := fmt.Sprint(s.requests()); got != "[[]]" {
		t.Errorf("asked for %s", got)
	}
	var registration struct {
		Registrations []struct {
			ID, Method      string
			RegisterOptions struct{ Section string }
		}
	}
	if err := json.Unmarshal(c.Notification("client/registerCapability", 1), &registration); err != nil {
		t.Fatal(err)
	}
	if r := registration.Registrations; len(r) != 1 || r[0].Method != "workspace/didChangeConfiguration" || r[0].RegisterOptions.Section != "graphtrap" {
		t.Errorf("registered %+v", r)
	}
	s.set("", object{"collateralSeverity": "none"})
	c.Notify("workspace/didChangeConfiguration", object{"settings": nil})
	eventually(t, c, logURI, "the new setting", func(shown string) bool { return levels(shown) == "error" })
	c.Count("workspace/configuration")
}

// What is pushed counts for an editor that cannot be asked, and less than its answer
// for one that can.
func TestSettingsArePushed(t *testing.T) {
	c := session(t, server.Config{})
	c.Open(logURI, "log", 1, twoFailures)
	c.Diagnostics(logURI, 1)
	for _, push := range []struct{ settings, want string }{
		{`{"graphtrap":{"collateralSeverity":"information"}}`, "error information information information"},
		{`{"graphtrap":{"collateralSeverity":"none"},"other":{"x":1}}`, "error"},
		{`null`, "error hint hint hint"},
		{`{"graphtrap":{"suppressions":["nccl-timeout"]}}`, "error hint"},
		{`[1]`, "error hint hint hint"},
	} {
		c.Notify("workspace/didChangeConfiguration", object{"settings": json.RawMessage(push.settings)})
		eventually(t, c, logURI, push.settings, func(shown string) bool { return levels(shown) == push.want })
	}
	if c.Count("workspace/configuration") > 0 {
		t.Error("an editor that cannot be asked was asked")
	}
}

func TestAnAnswerCountsMoreThanAPush(t *testing.T) {
	c, _ := start(t, server.Config{})
	var s store
	s.set("", object{"collateralSeverity": "warning"})
	c.Answer("workspace/configuration", s.answer)
	c.Initialize("", func(p object) {
		configurable(p)
		options(object{"collateralSeverity": "none", "rankOfInterest": 1})(p)
	})
	t.Cleanup(c.Shutdown)
	c.Notify("workspace/didChangeConfiguration", object{"settings": object{"graphtrap": object{"collateralSeverity": "information", "suppressions": []string{"cuda-graph-capture-oom"}}}})
	c.Open(logURI, "log", 1, twoFailures)
	eventually(t, c, logURI, "all three layers", func(shown string) bool { return levels(shown) == "warning warning warning" })
	c.Notification("workspace/configuration", 1)
	c.Count("workspace/configuration")
	c.Notification("client/registerCapability", 1)
}

func TestFoldersHaveTheirOwnSettings(t *testing.T) {
	c, _ := start(t, server.Config{})
	var s store
	s.set("", object{"collateralSeverity": "warning"})
	s.set("file:///quiet%20one", object{"collateralSeverity": "none"})
	c.Answer("workspace/configuration", s.answer)
	c.Initialize("", func(p object) {
		configurable(p)
		p["workspaceFolders"] = []object{{"uri": "file:///loud", "name": "loud"}, {"uri": "file:///quiet%20one", "name": "quiet"}}
	})
	t.Cleanup(c.Shutdown)
	for uri, want := range map[string]string{
		"file:///loud/a.log": "error warning warning warning", "file:///quiet%20one/sub/b.log": "error", "file:///elsewhere/c.log": "error warning warning warning",
	} {
		c.Open(uri, "log", 1, twoFailures)
		if got := severities(c, uri, 1); got != want {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
	if got := fmt.Sprint(s.requests()); got != "[[ file:///loud file:///quiet%20one]]" {
		t.Errorf("asked for %s", got)
	}
	s.set("file:///elsewhere", object{"collateralSeverity": "information"})
	c.Notify("workspace/didChangeWorkspaceFolders", object{"event": object{
		"added": []object{{"uri": "file:///elsewhere", "name": "e"}}, "removed": []object{{"uri": "file:///loud", "name": "l"}},
	}})
	eventually(t, c, "file:///elsewhere/c.log", "the folder's settings", func(shown string) bool {
		return levels(shown) == "error information information information"
	})
	c.Count("workspace/configuration")
	c.Notification("client/registerCapability", 1)
}

// A folder's URI goes back as the client spelled it.
func TestAFolderIsSpelledAsTheClientDoes(t *testing.T) {
	c, _ := start(t, server.Config{})
	var s store
	s.set("", object{})
	c.Answer("workspace/configuration", s.answer)
	c.Initialize("file:///C:/logs%2Bmore", configurable)
	t.Cleanup(c.Shutdown)
	c.Notification("workspace/configuration", 1)
	c.Notification("client/registerCapability", 1)
	if got := fmt.Sprint(s.requests()); got != "[[ file:///C:/logs%2Bmore]]" {
		t.Errorf("asked for %s", got)
	}
}

func TestOneMessageNamesEveryWrongKey(t *testing.T) {
	const want = `These settings of graphtrap cannot be used; the others apply.
- colour is a string under an unknown key; allowed: the keys automaticAnalysis, collateralSeverity, maxDocumentBytes, pathMappings, rankOfInterest, semanticTokens, signatureFolder, suppressions
- maxDocumentBytes is a string; allowed: a whole number from 1 to 1099511627776 (in the folder app)
- pathMappings[0].to is missing; allowed: a path
- semanticTokens is a number; allowed: true or false
- suppressions[1] is a string that is no id; allowed: the ids that the command ` + "`graphtrap signatures`" + ` lists`
	c, _ := start(t, server.Config{})
	var s store
	wrong := object{"semanticTokens": 1, "pathMappings": []object{{"from": "/x"}}, "suppressions": []string{"cuda-oom", "private"}, "collateralSeverity": "none"}
	s.set("", wrong)
	s.set("file:///app", object{"maxDocumentBytes": "private", "collateralSeverity": "none", "semanticTokens": 1})
	c.Answer("workspace/configuration", s.answer)
	c.Initialize("file:///app", func(p object) {
		configurable(p)
		options(object{"colour": "private"})(p)
	})
	t.Cleanup(c.Shutdown)
	c.Notification("client/registerCapability", 1)
	var message struct {
		Type    int
		Message string
	}
	if err := json.Unmarshal(c.Notification("window/showMessage", 1), &message); err != nil {
		t.Fatal(err)
	}
	if message.Type != 2 || message.Message != want {
		t.Errorf("message of type %d:\n%s", message.Type, message.Message)
	}
	c.Open(logURI, "log", 1, twoFailures)
	if got := severities(c, logURI, 1); got != "error" {
		t.Errorf("the good key does not apply: %q", got)
	}
	// The same mistakes are not told of again; others are, and none is none.
	c.Notify("workspace/didChangeConfiguration", object{"settings": nil})
	s.set("", object{"collateralSeverity": 1})
	s.set("file:///app", object{})
	c.Notify("workspace/didChangeConfiguration", object{"settings": nil})
	if err := json.Unmarshal(c.Notification("window/showMessage", 2), &message); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(message.Message, "- collateralSeverity is a number; allowed: \"hint\"") || strings.Contains(message.Message, "semanticTokens is") {
		t.Errorf("the second message:\n%s", message.Message)
	}
	c.Count("workspace/configuration")
	if n := c.Count("window/showMessage"); n != 2 {
		t.Errorf("%d messages", n)
	}
}

func TestManyWrongKeysAreCounted(t *testing.T) {
	c, _ := start(t, server.Config{})
	many := object{}
	for i := range 50 {
		many[fmt.Sprintf("key%02d", i)] = i
	}
	c.Initialize("", options(many))
	t.Cleanup(c.Shutdown)
	message := string(c.Notification("window/showMessage", 1))
	if !strings.Contains(message, "key19 is") || strings.Contains(message, "key20 is") || !strings.Contains(message, "and 30 more") {
		t.Errorf("message %s", message)
	}
}

func TestAutomaticAnalysisCanBeOff(t *testing.T) {
	c, _ := start(t, server.Config{})
	c.Initialize("", options(object{"automaticAnalysis": "off"}))
	t.Cleanup(c.Shutdown)
	const other = "file:///logs/other.log"
	c.Open(logURI, "log", 1, twoFailures)
	c.Open(other, "log", 1, twoFailures)
	if h := hoverAt(c, logURI, 1, 0); h != nil {
		t.Error("a hover before anybody asked")
	}
	c.Call("workspace/executeCommand", command(object{"uri": other}), nil)
	c.Diagnostics(other, 1)
	c.Notify("workspace/didChangeConfiguration", object{"settings": object{"graphtrap": object{"automaticAnalysis": true}}})
	c.Diagnostics(logURI, 1)
	if n := len(c.Publications(logURI)); n != 1 {
		t.Errorf("%d publications", n)
	}
	c.Notify("workspace/didChangeConfiguration", object{"settings": object{"graphtrap": object{"automaticAnalysis": false}}})
	c.Cleared(logURI)
	c.Change(other, 2, object{"text": "rank7 INITIATOR"}) // still as asked
	c.Diagnostics(other, 2)
}

func TestLargeDocumentsWaitUntilAskedFor(t *testing.T) {
	c, _ := start(t, server.Config{})
	c.Initialize("", options(object{"maxDocumentBytes": len(twoFailures) + 10}))
	t.Cleanup(c.Shutdown)
	c.Open(logURI, "log", 1, twoFailures)
	c.Diagnostics(logURI, 1)
	c.Change(logURI, 2, object{"text": twoFailures + twoFailures})
	c.Cleared(logURI)
	if h := hoverAt(c, logURI, 1, 0); h != nil {
		t.Error("a hover in a document above the bound")
	}
	c.Call("workspace/executeCommand", command(object{"uri": logURI}), nil)
	c.Diagnostics(logURI, 2)
}

const ownSignature = `
[[message]]
id = "our-trainer-gave-up"
says = "Our trainer gave up in step {step}."
role = "initiator"
anchors = ["our trainer gave up"]
pattern = "our trainer gave up in step (?P<step>INT)"
[[message.yes]]
line = "our trainer gave up in step 3"
[[message.no]]
line = "our trainer gave up smoking"
`

const ownFailure = `id = "our-failure"
title = "our trainer gave up"
summary = "It does so."
[[states]]
message = "our-trainer-gave-up"
[[missing]]
id = "why"
ask = "why it gave up"
how = "ask it"
[[yes]]
log = "our trainer gave up in step 3"
[[no]]
log = "fine"
`

func TestSignaturesOfTheUsers(t *testing.T) {
	dir := workspace(t, map[string]string{"sigs/messages/ours.toml": ownSignature, "sigs/failures/our-failure.toml": ownFailure, "bad/messages/ours.toml": "x = = 1"})
	c, _ := startReal(t)
	c.Initialize(string(uri.File(dir)), options(object{"signatureFolder": "sigs"}))
	t.Cleanup(c.Shutdown)
	const text = "[rank3]: our trainer gave up in step 7\n"
	log := string(uri.File(filepath.Join(dir, "train.log")))
	c.Open(log, "log", 1, text)
	eventually(t, c, log, "the user's failure", func(shown string) bool { return strings.Contains(shown, "our-failure") })
	var e struct {
		Kind     string `json:"kind"`
		Markdown string `json:"markdown"`
	}
	c.Call("workspace/executeCommand", object{"command": "graphtrap.explain", "arguments": []any{object{"id": "our-failure"}}}, &e)
	if e.Kind != "failure" || !strings.Contains(e.Markdown, "Our trainer gave up") {
		t.Errorf("explained as %+v", e)
	}
	c.Notify("workspace/didChangeConfiguration", object{"settings": object{"graphtrap": object{"signatureFolder": "bad"}}})
	message := string(c.Notification("window/showMessage", 1))
	if !strings.Contains(message, "signatureFolder: messages/ours.toml:1: ") {
		t.Errorf("message %s", message)
	}
	eventually(t, c, log, "the built-in signatures alone", func(shown string) bool { return !strings.Contains(shown, "our-failure") })
	c.Notify("workspace/didChangeConfiguration", object{"settings": object{"graphtrap": object{"signatureFolder": filepath.Join(dir, "none")}}})
	if message := string(c.Notification("window/showMessage", 2)); !strings.Contains(message, "none cannot be read") {
		t.Errorf("message %s", message)
	}
}

// An editor that does not answer, or answers nonsense, keeps nobody waiting for long.
func TestEditorsThatDoNotTellTheirSettings(t *testing.T) {
	for name, answer := range map[string]any{
		"silence": lsptest.Silence{}, "an error": &jsonrpc2.Error{Code: jsonrpc2.MethodNotFound, Message: "no"}, "null": nil,
		"too few": []any{}, "too many": []any{nil, nil}, "no list": object{}, "a list of null": []any{nil}, "a text": []any{"x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := start(t, server.Config{})
			c.Answer("workspace/configuration", func(json.RawMessage) any { return answer })
			c.Initialize("", configurable)
			t.Cleanup(c.Shutdown)
			c.Open(logURI, "log", 1, twoFailures)
			if got := severities(c, logURI, 1); got != "error hint hint hint" {
				t.Errorf("got %q", got)
			}
			c.Notification("client/registerCapability", 1)
			c.Notification("workspace/configuration", 1)
			c.Count("window/showMessage")
		})
	}
}

func TestNothingIsSentBeforeInitialized(t *testing.T) {
	c, _ := start(t, server.Config{})
	params := lsptest.Params("")
	configurable(params)
	params["initializationOptions"] = object{"colour": 1}
	params["trace"] = "verbose"
	c.Call("initialize", params, nil)
	t.Cleanup(c.Shutdown)
	c.Fails(jsonrpc2.MethodNotFound, "still/there", nil)
	time.Sleep(100 * time.Millisecond)
	for _, method := range []string{"window/logMessage", "window/showMessage", "$/logTrace", "client/registerCapability", "workspace/configuration"} {
		if n := c.Count(method); n > 0 {
			t.Errorf("%d times %s before initialized", n, method)
		}
	}
	c.Notify("initialized", object{})
	for _, method := range []string{"window/logMessage", "window/showMessage", "$/logTrace", "client/registerCapability", "workspace/configuration"} {
		c.Notification(method, 1)
	}
}

// However changes of settings and of documents overtake each other, in the end each
// document has the diagnostics of its last text under the last settings.
func TestSettingsAndEditsInAnyOrder(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		random := rand.New(rand.NewPCG(seed, seed))
		c, _ := start(t, server.Config{Debounce: time.Millisecond})
		var s store
		s.set("", object{})
		c.Answer("workspace/configuration", s.answer)
		c.Initialize("file:///quiet", configurable)
		t.Cleanup(c.Shutdown)
		documents := []string{"file:///quiet/a.log", "file:///loud/b.log", "file:///loud/c.log"}
		versions := map[string]int{}
		for _, d := range documents {
			versions[d] = 1
			c.Open(d, "log", 1, twoFailures)
		}
		severities := []string{"hint", "information", "warning", "none"}
		pick := func() object {
			return object{"collateralSeverity": severities[random.IntN(4)], "automaticAnalysis": random.IntN(4) > 0}
		}
		for range 300 {
			switch random.IntN(4) {
			case 0:
				s.set("", pick())
				s.set("file:///quiet", pick())
				c.Notify("workspace/didChangeConfiguration", object{"settings": nil})
			case 1:
				hoverAt(c, documents[random.IntN(3)], 1, 0)
			default:
				d := documents[random.IntN(3)]
				versions[d]++
				c.Change(d, versions[d], object{"text": strings.Repeat("fine\n", random.IntN(5)) + twoFailures})
			}
		}
		s.set("", object{"collateralSeverity": "warning"})
		s.set("file:///quiet", object{"collateralSeverity": "none"})
		c.Notify("workspace/didChangeConfiguration", object{"settings": nil})
		for _, d := range documents {
			want := "error warning warning warning"
			if d == "file:///quiet/a.log" {
				want = "error"
			}
			eventually(t, c, d, "the end", func(shown string) bool {
				list := c.Publications(d)
				v, ok := list[len(list)-1].Version.Get()
				return levels(shown) == want && ok && int(v) == versions[d]
			})
		}
		for _, method := range []string{"workspace/configuration", "client/registerCapability", "window/showMessage"} {
			c.Count(method)
		}
	}
}
