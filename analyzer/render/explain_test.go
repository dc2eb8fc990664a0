package render

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/graphtrap/graphtrap/signatures"
)

func builtin(t *testing.T) *signatures.Set {
	t.Helper()
	set, err := signatures.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Everything that is known can be explained, whole.
func TestExplainEverything(t *testing.T) {
	set := builtin(t)
	for _, f := range set.Failures() {
		e, err := Explain(set, f.ID)
		if err != nil || e.ID != f.ID || e.Kind != KindFailure {
			t.Errorf("%s is not explained as a failure: %v", f.ID, err)
			continue
		}
		wellFormed(t, e)
		var wants []string
		for _, x := range f.Fixes {
			wants = append(wants, x.Title, x.Why, x.Precondition, x.Risk, x.Rollback)
		}
		for _, x := range f.Evidence {
			wants = append(wants, x.Says)
		}
		for _, x := range f.Missing {
			wants = append(wants, x.Ask, x.How)
		}
		for _, x := range f.References {
			wants = append(wants, x.Title, x.URL)
		}
		for _, want := range append(wants, f.Related...) {
			if !strings.Contains(e.Text, flat(want)) {
				t.Errorf("%s does not say %q", f.ID, want)
			}
		}
	}
	for _, m := range set.Messages() {
		e, err := Explain(set, m.ID)
		if err != nil || (e.Kind == KindMessage) != (set.Failure(m.ID) == nil) {
			t.Errorf("%s is not explained as a message: %v", m.ID, err)
			continue
		}
		wellFormed(t, e)
		if !strings.Contains(e.Text, flat(m.Says)) || !strings.Contains(e.Text, m.Anchors[0]) {
			t.Errorf("%s does not say what it means and how it is known:\n%s", m.ID, e.Text)
		}
	}
}

func wellFormed(t *testing.T, e *Explanation) {
	t.Helper()
	for name, text := range map[string]string{"Markdown": e.Markdown, "text": e.Text} {
		if strings.Count(text, "```")%2 != 0 {
			t.Errorf("%s: a fence of the %s is left open", e.ID, name)
		}
		if strings.Contains(text, "\n\n\n") || strings.ContainsRune(text, 0x1b) || !strings.HasPrefix(text, "# ") {
			t.Errorf("%s: the %s is not tidy:\n%s", e.ID, name, text)
		}
	}
	if n := strings.Count(e.Text, "\n"); n > 600 {
		t.Errorf("%s: %d lines", e.ID, n)
	}
}

const hostileSignature = `
[[message]]
id = "hostile"
says = "<script>alert(1)</script> ![x](http://evil) {n}\\u001b[2J"
role = "initiator"
anchors = ["hostile anchor"]
pattern = "hostile anchor (?P<n>INT)"
source = "[click](command:evil)"
[[message.yes]]
line = "hostile anchor 3"
[[message.no]]
line = "%s"
`

// Signatures of a user's are no more trusted than a log.
func TestExplanationsAreEscaped(t *testing.T) {
	text := strings.Replace(hostileSignature, "%s", strings.Repeat("x", 2000)+" ``` ", 1)
	set, err := signatures.Load(fstest.MapFS{"messages/mine.toml": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Explain(set, "hostile")
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, e)
	for _, bad := range []string{"<script>", "![x](", "[click](", "\x1b"} {
		if strings.Contains(e.Markdown, bad) {
			t.Errorf("%q is in the Markdown:\n%s", bad, e.Markdown)
		}
	}
	if !strings.Contains(e.Markdown, "`{n}`") || strings.Contains(e.Markdown, strings.Repeat("x", 700)) {
		t.Errorf("Markdown:\n%s", e.Markdown)
	}
}

func TestUnknownIDs(t *testing.T) {
	set := builtin(t)
	for id, first := range map[string]string{
		"cuda-oomm": "cuda-oom", "Torch-OOM": "torch-oom", "graph capture oom": "cuda-graph-capture-oom", "nccl_timeout": "nccl-timeout",
	} {
		_, err := Explain(set, id)
		var unknown *UnknownIDError
		if !errors.As(err, &unknown) || len(unknown.Nearest) == 0 || unknown.Nearest[0] != first || len(unknown.Nearest) > maxNearest {
			t.Errorf("%s: %v, want %s first", id, err, first)
		}
	}
	for _, id := range []string{"", "qqqqqqqq", strings.Repeat("\x1b", 5000)} {
		if _, err := Explain(set, id); err == nil || len(err.Error()) > 400 || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("%.20q: %v", id, err)
		}
	}
}

func TestSignaturesAreListed(t *testing.T) {
	set := builtin(t)
	lines := strings.Split(Signatures(set), "\n")
	for _, id := range []string{"cuda-graph-capture-oom", "torch-oom"} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  "+id+" ") && len(strings.Fields(l)) > 3 }) {
			t.Errorf("%s is not listed", id)
		}
	}
	if want := len(set.Failures()) + len(set.Messages()); len(lines) < want {
		t.Errorf("%d lines for %d signatures", len(lines), want)
	}
}
