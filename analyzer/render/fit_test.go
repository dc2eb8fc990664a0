package render

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/signatures"
)

// large is a report in which everything is there and long, in words.
func large(words func(n int) string, files int) *incident.Report {
	r := &incident.Report{}
	for i := range files {
		r.Input.Files = append(r.Input.Files, incident.File{Path: fmt.Sprintf("/scratch/logs/%s_%d.log", words(3), i), Lines: 123456, Bytes: 1 << 40})
	}
	at := func(n int64) incident.Location {
		return incident.Location{File: r.Input.Files[0].Path, Line: n, EndLine: n, Column: 1, EndColumn: 9, Offset: n, EndOffset: n + 9, Text: words(40)}
	}
	stated, rank, host, process := at(48213), 17, words(2), words(2)
	v := &r.Verdict
	*v = incident.Verdict{
		Status: incident.Undetermined, Confidence: incident.Possible, Title: words(20), Summary: words(60), GraphPoolIsCause: incident.Unknown,
		Initiator: &incident.Initiator{
			Rank: &rank, LocalRank: &rank, PID: &rank, Host: &host, Process: &process, Location: &stated, StatedAt: &stated,
			Time: &incident.Time{Text: "2026-11-30 01:02:03.456"},
		},
		MissingFact: &incident.MissingFact{ID: "x", Fact: words(20), How: words(30)},
		Verify:      []incident.Verify{{Command: words(20), Expect: words(20)}},
	}
	for i := range int64(20) {
		v.Evidence = append(v.Evidence, incident.Evidence{Location: at(i * 1000), Says: words(25), For: []incident.Weight{incident.Supports, incident.Refutes, incident.Neutral}[i%3]})
		n := int(i)
		v.Collateral = append(v.Collateral, incident.Collateral{Rank: &n, Location: at(50000 + i), Why: words(20)})
		v.Fixes = append(v.Fixes, incident.Fix{Title: words(15), Code: "x = 1\n" + "y = 2", Why: words(20), Precondition: words(20), Risk: words(20), Rollback: words(10)})
	}
	size := incident.Fact{Kind: incident.KindSize, Size: incident.Size{Bytes: 1 << 31}}
	r.Events = []incident.Event{{Role: incident.RoleInitiator, Location: stated, Facts: map[string]incident.Fact{
		"requested": size, "capacity": size, "live": size, "private_pools": size, "unallocated": size, "free": size,
	}}}
	r.Notes = []string{words(30)}
	return r
}

func plainWords(n int) string { return strings.TrimSpace(strings.Repeat("captured ", n)) }

// fits checks that no line is wider than the terminal and none can command it.
func fits(t interface {
	Helper()
	Errorf(string, ...any)
}, r *incident.Report, width int) {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, r, TextOptions{Width: width}); err != nil {
		t.Errorf("%v", err)
	}
	for l := range strings.Lines(b.String()) {
		l = strings.TrimSuffix(l, "\n")
		if n := utf8.RuneCountInString(l); n > width {
			t.Errorf("%d columns of %d: %q", n, width, l)
		}
		if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("a control character: %q", l)
		}
		if !utf8.ValidString(l) {
			t.Errorf("invalid UTF-8: %q", l)
		}
	}
}

func TestLongTextsFit(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		for _, files := range []int{1, 2, 9} {
			fits(t, large(plainWords, files), width)
		}
	}
}

func TestLongNamesFit(t *testing.T) {
	name := func(n int) string { return strings.Repeat("verylongname", n) }
	fits(t, large(name, 1), 80)
	fits(t, large(name, 2), 80)
}

func TestAnyTextFits(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "rank ", " ", "\n", "\t", "\x1b[31m", "\x1b]0;x\x07", "\x00", "\u009b", "é", "█", "日本", "\xff", "`", "*", strings.Repeat("x", 90), "\u202e"})
	rapid.Check(t, func(rt *rapid.T) {
		words := func(n int) string {
			return strings.Join(rapid.SliceOfN(part, 0, n).Draw(rt, "words"), "")
		}
		r := large(words, rapid.IntRange(1, 4).Draw(rt, "files"))
		fits(rt, r, 80)
		for _, text := range []string{Markdown(r, nil), hover(rt, r)} {
			if strings.ContainsAny(text, "\x1b\x00\x07\u009b") || !utf8.ValidString(text) {
				rt.Errorf("a control character in %q", text)
			}
		}
	})
}

func hover(t interface{ Errorf(string, ...any) }, r *incident.Report) string {
	text, ok := Hover(r, r.Verdict.Initiator.StatedAt.Offset, nil)
	if !ok {
		t.Errorf("no hover")
	}
	if n := strings.Count(text, "\n") + 1; n > 15 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	return text
}

func TestHoverIsShort(t *testing.T) {
	hover(t, large(plainWords, 1))
	r := large(plainWords, 1)
	r.Verdict.MissingFact = nil
	hover(t, r)
	text, ok := Hover(r, r.Verdict.Collateral[3].Location.Offset, nil)
	if n := strings.Count(text, "\n") + 1; !ok || n > 15 || !strings.Contains(text, "Rank 3") {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

// Colours carry nothing that the words do not.
func TestColourChangesNoText(t *testing.T) {
	var plain, coloured strings.Builder
	r := large(plainWords, 1)
	if err := Text(&plain, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := Text(&coloured, r, TextOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	var bare strings.Builder
	for rest := coloured.String(); rest != ""; {
		before, after, found := strings.Cut(rest, "\x1b[")
		bare.WriteString(before)
		if !found {
			break
		}
		_, rest, _ = strings.Cut(after, "m")
	}
	if bare.String() != plain.String() {
		t.Errorf("with colour\n%s\nwithout\n%s", bare.String(), plain.String())
	}
}

// Titles and commands of our own fixes fit as well, except for code, which is
// there to be copied.
func TestBuiltinFixesFit(t *testing.T) {
	set, err := signatures.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set.Failures() {
		for _, fix := range f.Fixes {
			r := large(plainWords, 1)
			r.Verdict.Fixes = []incident.Fix{{Title: fix.Title, Why: fix.Why, Precondition: fix.Precondition, Risk: fix.Risk, Rollback: fix.Rollback}}
			for _, v := range fix.Verify {
				r.Verdict.Verify = []incident.Verify{{Command: v.Command, Expect: v.Expect}}
			}
			fits(t, r, 80)
		}
	}
}

func TestTitleStartsWithACapital(t *testing.T) {
	for in, want := range map[string]string{"rank 3 started it": "Rank 3 started it", "": "", "NCCL lost a peer": "NCCL lost a peer", "échec": "échec", "日本": "日本"} {
		if got := upper(in); got != want {
			t.Errorf("upper(%q) = %q, want %q", in, got, want)
		}
	}
}

// Code in a hover stays in its code span.
func TestCodeSpan(t *testing.T) {
	r := large(plainWords, 1)
	r.Verdict.Fixes[0].Code = "echo `date` <b>"
	r.Verdict.Verify[0].Command = "grep '`' x"
	text := hover(t, r)
	if strings.Contains(text, ": `echo `date` <b>`") || strings.Contains(text, "`grep '`' x`") {
		t.Errorf("a code span ends early:\n%s", text)
	}
}
