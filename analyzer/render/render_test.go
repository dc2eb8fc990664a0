package render

import (
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// hostile is a report whose every text comes from a log that means harm.
func hostile() *incident.Report {
	const text = "\x1b]0;owned\x07 [click](http://evil) <script> ``` | *x* \x1b[2J"
	at := incident.Location{File: "x.log", Line: 3, EndLine: 3, Offset: 10, EndOffset: 60, Text: text}
	rank := 2
	return &incident.Report{
		Input: incident.Input{Files: []incident.File{{Path: "x.log", Lines: 9}}},
		Verdict: incident.Verdict{
			Status: incident.Diagnosed, Confidence: incident.Likely, Title: "rank 2 " + text, Summary: text,
			Initiator:   &incident.Initiator{Rank: &rank, Location: &at, StatedAt: &at},
			Evidence:    []incident.Evidence{{Location: at, Says: text, For: incident.Supports}},
			Collateral:  []incident.Collateral{{Location: incident.Location{Line: 5, Offset: 90}, Why: text}},
			MissingFact: &incident.MissingFact{Fact: text, How: text},
		},
	}
}

// What a log says never commands a terminal.
func TestTextIsPrintable(t *testing.T) {
	var b strings.Builder
	if err := Text(&b, hostile(), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
		t.Errorf("control character at %d of %q", i, b.String())
	}
}

// What a log says is no Markdown and no HTML.
func TestMarkdownIsEscaped(t *testing.T) {
	hover, ok := Hover(hostile(), 10, nil)
	if !ok {
		t.Fatal("the initiating line is not explained")
	}
	for _, text := range []string{hover, Markdown(hostile(), nil)} {
		if strings.Contains(text, "<script>") && !strings.Contains(text, "\n```\n") || strings.Contains(text, "\n[click](http") || strings.ContainsRune(text, 0x1b) {
			t.Errorf("not escaped:\n%q", text)
		}
		if n := strings.Count(text, "```"); n%2 != 0 {
			t.Errorf("a fence is left open:\n%s", text)
		}
	}
}

// A message that was cut says so, and one that fills the room does not.
func TestACutQuoteIsMarked(t *testing.T) {
	for length, cut := range map[int64]bool{incident.MaxLocationText: false, 900: true} {
		r := hostile()
		r.Verdict.Initiator.StatedAt.Text = strings.Repeat("x", incident.MaxLocationText)
		r.Verdict.Initiator.StatedAt.EndOffset = r.Verdict.Initiator.StatedAt.Offset + length
		if got := strings.Contains(Markdown(r, nil), "xxx…\n```"); got != cut {
			t.Errorf("%d bytes: marked %v", length, got)
		}
	}
}

func TestColour(t *testing.T) {
	var plain, coloured strings.Builder
	r := hostile()
	r.Verdict.Title, r.Verdict.Summary = "rank 2 started it", "it failed"
	if err := Text(&plain, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := Text(&coloured, r, TextOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(coloured.String(), "\x1b[1;31mRank 2 started it\x1b[0m") {
		t.Errorf("plain %q, coloured %q", plain.String(), coloured.String())
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"a short text", 20, "a short text"},
		{"words go to the next line", 10, "words go\nto the\nnext line"},
		{"averyveryverylongword x", 10, "averyveryv\nerylongwor\nd x"},
		{"ééééééééééé é", 8, "éééééééé\nééé é"},
		{"", 10, ""},
	} {
		if got := strings.Join(wrap(c.text, c.width), "\n"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
