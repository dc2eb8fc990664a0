package signatures

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSearchIsTheRegexp(t *testing.T) {
	tests := []struct {
		name, pattern string
		texts         []string
	}{
		{"line start", `^(?:\w )?reserved (\d+)`, []string{"a reserved 1", "é reserved 1", "ab reserved 1", "reserved 1", "reservedreserved 1"}},
		{"line start of several", `(?m)^reserved (\d)`, []string{"a\nreserved 1", "a reserved 1", "reserved x\nreserved 2"}},
		{"word", `\b(?:x_)?reserved\b`, []string{"unreserved", "un reserved", "éreserved", "unx_reserved x_reserved"}},
		{"what is in front of it", `[^x]\sreserved`, []string{"x reserved", "y reserved", "世 reserved", "\xffa reserved", " reserved"}},
		{"cut within a character", `.reserved`, []string{"世reserved", "世\xe4reserved", "\x96\x80reserved"}},
		{"one of several", `(?:max|peak) reserved|reserved by (?:A|B)`, []string{"peak reserved", "reserved by B", "reserved by C, max reserved"}},
		{"in order", `a: (\d+), b: (\d+)`, []string{"b: 1, a: 2", "a: 1, b: 2", "a: x a: 1, b: 2"}},
		{"one over another", `aba.*ab`, []string{"abab", "abaab"}},
		{"either case", `(?i)kb (held)`, []string{"KB HELD", "\u212ab held", "kb hel"}},
		{"either case in front", `(?i:k)x`, []string{"\u212ax", "kx"}},
		{"nothing of a choice", `a(?:b|)c(?:d|e)?`, []string{"ac", "abc", "abd"}},
		{"a replacement character", "\ufffdx (a)", []string{"\xffx a", "\ufffdx a"}},
		{"a class of nothing", `(?:[^\x00-\x{10FFFF}]|a)b`, []string{"ab", "b"}},
		{"a class of no character", `[\x{D800}-\x{DFFF}]?b`, []string{"ab", "\xedb"}},
		{"repeated", `(?:ab){2}c`, []string{"ababc", "xxababc", "abc"}},
	}
	for _, tt := range tests {
		for _, text := range tt.texts {
			for _, front := range []string{"", "x", strings.Repeat("世 ", 20)} {
				searched(t, tt.name, newSearch(regexp.MustCompile(tt.pattern)), front+text)
			}
		}
	}
}

// Every pattern of the built-in messages finds the same in every line that messages
// are tested with.
func TestSearchOfBuiltin(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range set.messages {
		for _, s := range slices.Concat(m.Yes, m.No) {
			lines = append(lines, s.Line)
		}
	}
	for i, m := range set.matchers {
		p := m.compiled()
		for _, s := range append([]*search{p.pattern, p.unless}, p.facts...) {
			if s == nil {
				continue
			}
			for _, yes := range m.message.Yes {
				searched(t, m.message.ID, s, yes.Line)
				searched(t, m.message.ID, s, "世 "+yes.Line+" "+yes.Line)
			}
			for k := i % 16; k < len(lines); k += 16 { // the race detector is slow
				searched(t, m.message.ID, s, lines[k])
			}
		}
	}
}

func searched(t *testing.T, name string, s *search, text string) {
	t.Helper()
	if want, got := s.FindStringSubmatchIndex(text), s.find(text); !slices.Equal(want, got) {
		t.Errorf("%s: %q in %q: %v, want %v", name, s, text, got, want)
	}
}

// What a line lacks ends the search before the regular expression is tried.
func TestSearchLeavesOut(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          int
	}{
		{`reserved (?P<n>\d+) (?:MiB|GiB)`, "reserved 12 of 24", -1},
		{`(?:^|[^x]\s)reserved`, "step 12 reserved", len("step 12 reserved") - len("x reserved") - 4},
		{`.*reserved`, "step 12 reserved", 0},
		{`reserved by A|kept by B`, "reserved 12 GiB", -1},
		{`\d+`, "no number", 0},
	}
	for _, tt := range tests {
		if got := newSearch(regexp.MustCompile(tt.pattern)).start(tt.text); got != tt.want {
			t.Errorf("%q in %q: %d, want %d", tt.pattern, tt.text, got, tt.want)
		}
	}
}
