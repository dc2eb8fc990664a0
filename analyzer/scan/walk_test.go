package scan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// visited is a line as a visitor saw it.
type visited struct {
	Line, Offset int64
	Text         string
	Length       int
}

// walk visits the lines that start at the hits, and more lines behind those
// whose text asks for it.
func walk(t testing.TB, text string, hits []scan.Hit, more func(string) bool) []visited {
	t.Helper()
	var out []visited
	err := scan.Walk(context.Background(), strings.NewReader(text), int64(len(text)), hits, func(r scan.Raw) bool {
		out = append(out, visited{r.Line, r.Offset, string(r.Bytes), r.Length})
		return more(string(r.Bytes))
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func never(string) bool { return false }

// lines splits a text as a visitor must see it.
func lines(text string) []visited {
	var out []visited
	offset := int64(0)
	for l := range strings.Lines(text) {
		bare := strings.TrimSuffix(l, "\n")
		out = append(out, visited{int64(len(out) + 1), offset, bare[:min(len(bare), line.MaxText)], len(bare)})
		offset += int64(len(l))
	}
	return out
}

func TestWalkVisitsHitsInOrder(t *testing.T) {
	text := "a\nKilled\nb\nKilled\nKilled"
	got := walk(t, text, []scan.Hit{{Line: 2, Offset: 2}, {Line: 4, Offset: 11}, {Line: 5, Offset: 18}}, never)
	want := []visited{{2, 2, "Killed", 6}, {4, 11, "Killed", 6}, {5, 18, "Killed", 6}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWalkGoesOnWhileAsked(t *testing.T) {
	text := "more 1\nmore 2\nstop\nx\nmore 3\n"
	more := func(s string) bool { return strings.HasPrefix(s, "more") }
	got := walk(t, text, []scan.Hit{{Line: 1, Offset: 0}, {Line: 2, Offset: 7}, {Line: 5, Offset: 21}}, more)
	want := []visited{{1, 0, "more 1", 6}, {2, 7, "more 2", 6}, {3, 14, "stop", 4}, {5, 21, "more 3", 6}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWalkLongLines(t *testing.T) {
	for _, n := range []int{line.MaxText - 1, line.MaxText, line.MaxText + 1, 3 * line.MaxText} {
		for _, end := range []string{"", "\n", "\nx\n"} {
			text := "a\n" + strings.Repeat("x", n) + end
			got := walk(t, text, []scan.Hit{{Line: 2, Offset: 2}}, never)
			if len(got) != 1 || got[0].Length != n || len(got[0].Text) != min(n, line.MaxText) {
				t.Errorf("%d bytes and %q: %d visits, length %d, %d bytes", n, end, len(got), got[0].Length, len(got[0].Text))
			}
		}
	}
}

func TestWalkOfNothing(t *testing.T) {
	if got := walk(t, "", nil, never); got != nil {
		t.Errorf("%v", got)
	}
	if got := walk(t, "x", []scan.Hit{{Line: 9, Offset: 100}}, never); got != nil {
		t.Errorf("a hit behind the end: %v", got)
	}
}

// Walk sees the lines that a naive reader sees.
func TestWalkIsTheNaiveReader(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := logs().Draw(rt, "log")
		all := lines(text)
		every := rapid.IntRange(1, 4).Draw(rt, "one hit in")
		length := rapid.IntRange(0, 30).Draw(rt, "length that asks for more")
		more := func(s string) bool { return len(s) > length }
		var hits []scan.Hit
		var want []visited
		asked := false
		for i, l := range all {
			hit := i%every == 0
			if hit {
				hits = append(hits, scan.Hit{Line: l.Line, Offset: l.Offset})
			}
			if hit || asked {
				want = append(want, l)
				asked = more(l.Text)
			}
		}
		if diff := cmp.Diff(want, walk(t, text, hits, more)); diff != "" {
			rt.Fatalf("%q: %s", text, diff)
		}
	})
}
