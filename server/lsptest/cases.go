package lsptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/server/position"
)

// Cases runs every conversation dir/*.txtar against a server of its own, which
// connect makes; status waits for that server's end. testdata/README.md describes
// the files. With update, what the server says becomes what is expected.
func Cases(t *testing.T, dir string, update bool, connect func(t *testing.T) (c *Client, status func() int)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{t: t, archive: parseArchive(text), connect: connect, update: update, testdata: filepath.Dir(dir)}
			s.run()
			if changed := s.archive.format(); update && !t.Failed() && !bytes.Equal(changed, text) {
				if err := os.WriteFile(file, changed, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// script is one conversation under way.
type script struct {
	t        *testing.T
	archive  archive
	connect  func(*testing.T) (*Client, func() int)
	update   bool
	testdata string

	// dir is the workspace folder, folder its URI.
	dir     string
	folder  string
	client  *Client
	status  func() int
	change  Object // of the params of initialize
	answers map[string]any
	units   position.Convention

	documents map[string]*opened
	// current is the document that was opened or changed last.
	current string
	last    *Message       // the latest response
	seen    map[string]int // messages looked at, by method
}

type opened struct {
	version int
	text    *position.Text
}

// steps are the sections that there are, by their first word.
var steps = map[string]func(s *script, words []string, body string) (golden string){
	"initialize":  (*script).initialize,
	"file":        (*script).file,
	"copy":        (*script).copy,
	"answer":      (*script).answer,
	"open":        (*script).open,
	"change":      (*script).changeDocument,
	"close":       (*script).close,
	"notify":      (*script).notify,
	"request":     (*script).request,
	"result":      (*script).result,
	"error":       (*script).failure,
	"diagnostics": (*script).diagnostics,
	"cleared":     (*script).cleared,
	"message":     (*script).message,
}

// compared are the sections whose body is what the server is expected to say.
var compared = map[string]bool{"result": true, "error": true, "diagnostics": true, "message": true}

func (s *script) run() {
	for _, word := range []string{"Given", "When", "Then"} {
		if !strings.Contains(strings.ToLower(s.archive.comment), strings.ToLower(word)+" ") {
			s.t.Fatalf("the case does not tell what is given, when something happens, and what then: %q is missing", word)
		}
	}
	s.dir = s.t.TempDir()
	s.folder = string(uri.File(s.dir))
	s.documents, s.answers, s.seen = map[string]*opened{}, map[string]any{}, map[string]int{}

	var done []section
	for i, section := range s.archive.sections {
		words := strings.Fields(section.name)
		step := steps[words[0]]
		if step == nil {
			s.t.Fatalf("unknown section %q; there are %s", section.name, strings.Join(slices.Sorted(maps.Keys(steps)), ", "))
		}
		if compared[words[0]] && s.client == nil {
			s.start()
		}
		got := step(s, words[1:], section.body)
		if compared[words[0]] {
			section.body = s.compare(section, got)
		}
		done = append(done, section)
		if words[0] == "request" && !s.answered(i) {
			done = append(done, s.unanswered())
		}
	}
	s.archive.sections = done
	s.started().Shutdown()
	if code := s.status(); code != 0 {
		s.t.Errorf("exit status %d", code)
	}
}

// answered reports whether the section behind a request tells what is expected.
func (s *script) answered(request int) bool {
	if request+1 == len(s.archive.sections) {
		return false
	}
	word, _, _ := strings.Cut(s.archive.sections[request+1].name, " ")
	return word == "result" || word == "error"
}

// unanswered makes the section that a request lacks.
func (s *script) unanswered() section {
	if !s.update {
		s.t.Fatal("a request without a result or an error behind it; -update writes it")
	}
	if s.last.Error != nil {
		return section{"error", s.failure(nil, "")}
	}
	return section{"result", s.result(nil, "")}
}

// compare returns what a section is to hold from now on.
func (s *script) compare(expected section, got string) string {
	s.t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if s.update {
		return got
	}
	if diff := cmp.Diff(expected.body, got); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", expected.name, diff)
	}
	return expected.body
}

// start connects the client, with what the sections so far say of it.
func (s *script) start() {
	s.client, s.status = s.connect(s.t)
	s.client.Strict()
	for method, result := range s.answers {
		s.client.Answer(method, func(json.RawMessage) any { return result })
	}
	got := s.client.Initialize(s.folder, func(params Object) { patch(params, s.change) })
	s.units = position.Convention{Encoding: got.Capabilities.PositionEncoding}
}

func (s *script) started() *Client {
	if s.client == nil {
		s.start()
	}
	return s.client
}

// patch changes an object as RFC 7396 says: null removes a member.
func patch(o, changes Object) {
	for key, value := range changes {
		inner, isObject := value.(Object)
		switch {
		case value == nil:
			delete(o, key)
		case isObject:
			target, ok := o[key].(Object)
			if !ok {
				target = Object{}
				o[key] = target
			}
			patch(target, inner)
		default:
			o[key] = value
		}
	}
}

func (s *script) initialize(_ []string, body string) string {
	if s.client != nil {
		s.t.Fatal("initialize comes before anything is said")
	}
	s.decode(body, &s.change)
	return ""
}

// path is a file of the workspace folder.
func (s *script) path(name string) string {
	if !filepath.IsLocal(name) {
		s.t.Fatalf("%s leaves the workspace folder", name)
	}
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *script) file(words []string, body string) string {
	s.words(words, 1)
	if err := os.WriteFile(s.path(words[0]), []byte(body), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return ""
}

func (s *script) copy(words []string, _ string) string {
	s.words(words, 2)
	from, to := filepath.Join(s.testdata, filepath.FromSlash(words[0])), s.path(words[1])
	info, err := os.Stat(from)
	if err != nil {
		s.t.Fatal(err)
	}
	if info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else {
		var text []byte
		if text, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, text, 0o644)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return ""
}

func (s *script) answer(words []string, body string) string {
	s.words(words, 1)
	if s.client != nil {
		s.t.Fatal("answers come before anything is said")
	}
	s.answers[words[0]] = s.json(body)
	return ""
}

// uri is how the client spells a document: a name is one of the workspace folder.
func (s *script) uri(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return s.folder + "/" + name
}

func (s *script) open(words []string, body string) string {
	s.words(words, 2)
	if body == "" {
		text, err := os.ReadFile(s.path(words[0]))
		if err != nil {
			s.t.Fatalf("open without a text: %v", err)
		}
		body = string(text)
	}
	s.current = s.uri(words[0])
	s.started().Open(s.current, words[1], 1, body)
	s.documents[s.current] = &opened{1, position.New([]byte(body), s.units)}
	return ""
}

func (s *script) document(name string) *opened {
	d := s.documents[s.uri(name)]
	if d == nil {
		s.t.Fatalf("%s is not open", name)
	}
	return d
}

func (s *script) changeDocument(words []string, body string) string {
	s.words(words, 1)
	d := s.document(words[0])
	s.current = s.uri(words[0])
	var changes []Object
	for _, change := range s.json(body).([]any) {
		changes = append(changes, change.(Object))
	}
	for _, change := range changes {
		var r struct {
			Range *protocol.Range
			Text  string
		}
		s.recode(change, &r)
		if r.Range == nil {
			d.text = position.New([]byte(r.Text), s.units)
			continue
		}
		d.text = d.text.Replace(d.text.Offset(r.Range.Start), d.text.Offset(r.Range.End), []byte(r.Text))
	}
	d.version++
	s.started().Change(s.current, d.version, changes...)
	return ""
}

func (s *script) close(words []string, _ string) string {
	s.words(words, 1)
	s.document(words[0])
	delete(s.documents, s.uri(words[0]))
	s.started().Close(s.uri(words[0]))
	return ""
}

func (s *script) notify(words []string, body string) string {
	s.words(words, 1)
	s.started().Notify(words[0], s.json(body))
	return ""
}

func (s *script) request(words []string, body string) string {
	s.words(words, 1)
	var params any
	if body != "" {
		params = s.json(body)
	}
	m := s.started().Start(words[0], params).Response()
	s.last = &m
	return ""
}

func (s *script) result(words []string, _ string) string {
	s.t.Helper()
	if s.last == nil {
		s.t.Fatal("a result without a request")
	}
	if s.last.Error != nil {
		s.t.Fatalf("error %d: %s", s.last.Error.Code, s.last.Error.Message)
	}
	return s.print(s.last.Result, words)
}

func (s *script) failure([]string, string) string {
	s.t.Helper()
	if s.last == nil || s.last.Error == nil {
		s.t.Fatal("there is no error")
	}
	return s.neutral(fmt.Sprintf("%d %s\n", s.last.Error.Code, s.last.Error.Message))
}

func (s *script) diagnostics(words []string, _ string) string {
	s.words(words, 1)
	d := s.document(words[0])
	return s.neutral(Show(s.started().Diagnostics(s.uri(words[0]), int32(d.version))))
}

func (s *script) cleared(words []string, _ string) string {
	s.words(words, 1)
	s.started().Cleared(s.uri(words[0]))
	return ""
}

func (s *script) message(words []string, _ string) string {
	if len(words) == 0 {
		s.t.Fatal("a message without a method")
	}
	s.seen[words[0]]++
	params := s.started().Notification(words[0], s.seen[words[0]])
	return s.print(params, words[1:])
}

func (s *script) words(words []string, n int) {
	s.t.Helper()
	if len(words) != n {
		s.t.Fatalf("a section with the words %q, want %d of them behind the first", words, n)
	}
}

// Show prints diagnostics, one a line, with the related lines indented below it.
func Show(list []protocol.Diagnostic) string {
	var b strings.Builder
	severities := []string{"no severity", "error", "warning", "information", "hint"}
	for _, d := range list {
		fmt.Fprintf(&b, "%d:%d-%d:%d %s", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Line, d.Range.End.Character, severities[d.Severity])
		if d.Code != nil {
			fmt.Fprintf(&b, " %v", d.Code)
		}
		if d.Tags.Len() > 0 {
			fmt.Fprintf(&b, " tags=%v", d.Tags.Slice())
		}
		fmt.Fprintf(&b, ": %v\n", d.Message)
		for _, r := range d.RelatedInformation {
			fmt.Fprintf(&b, "  %d:%d %s\n", r.Location.Range.Start.Line, r.Location.Range.Start.Character, r.Message)
		}
	}
	return b.String()
}

// print shows JSON, or the part of it that a selector names.
func (s *script) print(raw json.RawMessage, words []string) string {
	s.t.Helper()
	var b bytes.Buffer
	if len(words) == 0 {
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			s.t.Fatal(err)
		}
		return s.neutral(b.String())
	}
	s.words(words, 1)
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		s.t.Fatal(err)
	}
	for _, v := range s.pick(value, words[0]) {
		if text, ok := v.(string); ok {
			fmt.Fprintln(&b, text)
			continue
		}
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(v); err != nil {
			s.t.Fatal(err)
		}
	}
	return s.neutral(b.String())
}

// pick is what a selector such as ".items.*.message" names.
func (s *script) pick(value any, selector string) []any {
	s.t.Helper()
	values := []any{value}
	for part := range strings.SplitSeq(strings.Trim(selector, "."), ".") {
		var next []any
		for _, v := range values {
			switch v := v.(type) {
			case Object:
				if member, ok := v[part]; ok {
					next = append(next, member)
				}
			case []any:
				if part == "*" {
					next = append(next, v...)
				} else if i, err := strconv.Atoi(part); err == nil && i < len(v) {
					next = append(next, v[i])
				}
			}
		}
		if values = next; part == "" {
			s.t.Fatalf("bad selector %q", selector)
		}
	}
	return values
}

// resultID is made of all that a result depends on, the folder's name included.
var resultID = regexp.MustCompile(`"resultId": "[0-9a-f]+"`)

// neutral takes out of a text what differs from run to run: the name of the
// workspace folder, and what is made of it.
func (s *script) neutral(text string) string {
	text = resultID.ReplaceAllString(text, `"resultId": "$$ID"`)
	return strings.ReplaceAll(strings.ReplaceAll(text, s.folder, "$WORK"), s.dir, "$DIR")
}

func (s *script) decode(body string, v any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(body), v); err != nil {
		s.t.Fatalf("%s: %v", body, err)
	}
}

func (s *script) recode(from, to any) {
	s.t.Helper()
	encoded, err := json.Marshal(from)
	if err != nil {
		s.t.Fatal(err)
	}
	s.decode(string(encoded), to)
}

// json decodes a body and puts the values in that it stands for.
func (s *script) json(body string) any {
	s.t.Helper()
	encoded := func(text string) string {
		b, _ := json.Marshal(text) // a text cannot fail
		return strings.Trim(string(b), `"`)
	}
	body = strings.NewReplacer("$WORK", encoded(s.folder), "$DIR", encoded(s.dir)).Replace(body)
	var value any
	s.decode(body, &value)
	return s.expand(value)
}

// expand puts in what "$start", "$end", "$range" and "$result" stand for.
func (s *script) expand(value any) any {
	s.t.Helper()
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = s.expand(v[i])
		}
	case Object:
		for _, name := range []string{"$start", "$end", "$range"} {
			if needle, ok := v[name].(string); ok {
				return s.place(name, needle, v)
			}
		}
		if selector, ok := v["$result"].(string); ok {
			return s.earlier(selector)
		}
		for key := range v {
			v[key] = s.expand(v[key])
		}
	}
	return value
}

func (s *script) earlier(selector string) any {
	s.t.Helper()
	if s.last == nil {
		s.t.Fatal("$result without a request before it")
	}
	var value any
	s.decode(string(s.last.Result), &value)
	picked := s.pick(value, selector)
	if len(picked) != 1 {
		s.t.Fatalf("%q names %d values of the result, want one:\n%s", selector, len(picked), s.last.Result)
	}
	return picked[0]
}

// place is where a text stands in a document: the first time, or the nth.
func (s *script) place(name, needle string, options Object) any {
	s.t.Helper()
	document := s.current
	if of, ok := options["of"].(string); ok {
		document = of
	}
	text := s.document(document).text
	nth := 1
	if n, ok := options["nth"].(float64); ok {
		nth = int(n)
	}
	at := 0
	for ; nth > 0; nth-- {
		i := bytes.Index(text.Bytes()[at:], []byte(needle))
		if i < 0 {
			s.t.Fatalf("%q does not stand in %s (so often)", needle, document)
		}
		if at += i; nth > 1 {
			at += len(needle)
		}
	}
	var found any = text.Range(at, at+len(needle))
	switch name {
	case "$start":
		found = text.Position(at)
	case "$end":
		found = text.Position(at + len(needle))
	}
	var value any
	s.recode(found, &value)
	return value
}
