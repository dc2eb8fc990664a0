package session_test

import (
	"testing"

	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// opened puts the first version of a document into a store.
func opened(s *session.Store, key uri.URI, language, text string) *session.Snapshot {
	d := &session.Snapshot{URI: key, Key: key, Language: language, Version: 1, Text: position.New([]byte(text), position.Convention{})}
	s.Put(d)
	return d
}

// edited puts the next version into it.
func edited(s *session.Store, d *session.Snapshot, start, end int, insert string) *session.Snapshot {
	next := d.Next(d.Version+1, d.Text.Replace(start, end, []byte(insert)))
	s.Put(next)
	return next
}

func TestWhatIsKnownOfEarlierVersions(t *testing.T) {
	s := session.NewStore()
	d := opened(s, "file:///a.log", "log", "0123456789")
	if a, _ := d.Earlier(); a != nil || d.Grew() {
		t.Error("the first version has an earlier one")
	}
	first, second := &analyzer.Analysis{}, &analyzer.Analysis{}
	check := func(what string, d *session.Snapshot, want *analyzer.Analysis, same int64) {
		t.Helper()
		if a, n := d.Earlier(); a != want || want != nil && n != same {
			t.Errorf("%s: %p of %d bytes, want %p of %d", what, a, n, want, same)
		}
	}
	grown := edited(s, d, 10, 10, "abc")
	check("before any analysis", grown, nil, 0)
	d.Analysed(first)
	check("grown", grown, first, 10)
	if !grown.Grew() || !grown.GrownFrom(d) || !grown.GrownFrom(grown) || d.GrownFrom(grown) {
		t.Error("it has grown from the first version")
	}
	changed := edited(s, grown, 4, 5, "X")
	check("changed at 4", changed, first, 4)
	more := edited(s, changed, 13, 13, "def")
	check("and grown", more, first, 4)
	if changed.Grew() || !more.Grew() || more.GrownFrom(grown) || !more.GrownFrom(changed) {
		t.Error("a change before the end is no growth")
	}
	changed.Analysed(second)
	check("analysed in between", more, second, 13)
	check("the analysed one itself", changed, second, 13)
	whole := more.Next(9, position.New([]byte("0123Xanother"), position.Convention{}))
	s.Put(whole)
	check("another text", whole, second, 5)
	asked := whole.Next(9, whole.Text)
	asked.Asked = true
	if !s.Replace(whole, asked) {
		t.Fatal("not replaced")
	}
	check("asked for", asked, second, 5)
	s.Remove(asked.Key)
	check("opened again", opened(s, "file:///a.log", "log", "0123456789"), nil, 0)
}

// TestManyVersionsAreForgotten: what is remembered of a document that is never
// analysed is bounded.
func TestManyVersionsAreForgotten(t *testing.T) {
	s := session.NewStore()
	d := opened(s, "file:///a.log", "log", "")
	d.Analysed(&analyzer.Analysis{})
	for i := range 10_000 {
		d = edited(s, d, i, i, "x")
	}
	if a, _ := d.Earlier(); a != nil {
		t.Error("10,000 versions are remembered")
	}
}

func TestLikeness(t *testing.T) {
	for _, tt := range []struct {
		language, uri string
		want          session.Likeness
	}{
		{"log", "file:///a/anything", session.ALog},
		{"Log", "file:///a/x.md", session.ALog},
		{"python-traceback", "file:///a/x", session.ALog},
		{"", "file:///a/x.log", session.ALog},
		{"plaintext", "file:///a/X.OUT.2", session.ALog},
		{"plaintext", "vscode-remote://ssh-remote%2Bh/a/x.err", session.ALog},
		{"text", "file:///a/stderr.1", session.ALog},
		{"some-highlighter", "file:///a/x.log", session.ALog},
		{"log", "untitled:Untitled-1", session.PerhapsALog},
		{"Log", "output:extension-output-x", session.PerhapsALog},
		{"plaintext", "file:///a/notes.txt", session.PerhapsALog},
		{"plaintext", "file:///a/train.txt.1", session.PerhapsALog},
		{"plaintext", "untitled:Untitled-1", session.NotALog},
		{"plaintext", "file:///a/README.txt", session.NotALog},
		{"plaintext", "file:///a/readme.de.txt", session.NotALog},
		{"plaintext", "file:///a/requirements-dev.txt", session.NotALog},
		{"plaintext", "file:///a/blog", session.NotALog},
		{"plaintext", "file:///a/catalog", session.NotALog},
		{"some-highlighter", "file:///a/notes.txt", session.NotALog},
		{"pip-requirements", "file:///a/requirements.txt", session.NotALog},
		{"markdown", "file:///a/x.log", session.NotALog},
		{"Python", "file:///a/x.out", session.NotALog},
		{"yaml", "file:///a/log", session.NotALog},
		{"", "", session.NotALog},
	} {
		if got := session.LikenessOf(tt.language, uri.URI(tt.uri)); got != tt.want {
			t.Errorf("%q %s: %v, want %v", tt.language, tt.uri, got, tt.want)
		}
	}
}

func TestADocumentThatTurnsOutToBeALog(t *testing.T) {
	s := session.NewStore()
	d := opened(s, "output:x", "log", "")
	check := func(watched, turned bool) {
		t.Helper()
		if d.Watched() != watched || !d.Analysable() || !d.Doubtful() {
			t.Errorf("watched %v, want %v", d.Watched(), watched)
		}
		if got := d.Turned(); got != turned || d.Turned() {
			t.Errorf("turned %v, want %v, once", got, turned)
		}
	}
	check(false, false)
	d.Mark(false)
	check(false, false)
	d = edited(s, d, 0, 0, "x")
	d.Mark(true)
	check(true, true)
	d = edited(s, d, 0, 0, "x")
	check(true, false) // until it is known
	d.Mark(false)
	check(false, true)
	if !d.Spoken() {
		t.Error("something may have been said of it")
	}
	d = d.Next(4, d.Text)
	d.Asked = true
	s.Put(d)
	if !d.Watched() || d.Doubtful() {
		t.Error("it was asked for")
	}
}
