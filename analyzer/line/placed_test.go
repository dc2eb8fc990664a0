package line

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// place puts a raw line at an offset of a file.
func place(t *testing.T, raw string, number, start int64) Placed {
	t.Helper()
	return Placed{Piece: one(t, raw, Layout{}), Path: "train.log", Number: number, Start: start, Length: len(raw)}
}

func TestRangeOfAMatch(t *testing.T) {
	raw := "\x1b[31m[rank3]: \x1b[0mtorch.OutOfMemoryError: x"
	p := place(t, raw, 7, 1000)
	from := strings.Index(p.Text, "OutOfMemoryError")
	got := p.Range(from, from+len("OutOfMemoryError"))
	first := strings.Index(raw, "OutOfMemoryError")
	last := first + len("OutOfMemoryError")
	want := incident.Location{
		File: "train.log", Line: 7, EndLine: 7, Column: first + 1, EndColumn: last + 1, Offset: 1000 + int64(first), EndOffset: 1000 + int64(last),
		Text: "torch.OutOfMemoryError: x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpanQuotesTheStatingLine(t *testing.T) {
	first, last := place(t, "[rank3]: Traceback (most recent call last):", 3, 100), place(t, "[rank3]: ValueError: x", 9, 500)
	got := Span(first, last, last)
	want := incident.Location{
		File: "train.log", Line: 3, EndLine: 9, Column: 10, EndColumn: 23, Offset: 109, EndOffset: 522, Text: "ValueError: x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The text of a line joined from two has more bytes than its raw line.
func TestRangeStaysInTheLine(t *testing.T) {
	p := place(t, "2026-05-05T22:09:25.01Z stderr P first", 1, 0)
	p.Text += " second"
	if got := p.Location(); got.EndOffset != int64(p.Length) {
		t.Errorf("%+v", got)
	}
}

func TestQuoteCutsBetweenCharacters(t *testing.T) {
	for n := range 4 {
		got := Quote(strings.Repeat("x", n) + strings.Repeat("█", incident.MaxLocationText))
		if len(got) > incident.MaxLocationText || !utf8.ValidString(got) {
			t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
	}
	if got := Quote("Root Cause:  "); got != "Root Cause:" {
		t.Errorf("%q", got)
	}
	// Bytes that start no character must not be searched for one for ever.
	if got := Quote(strings.Repeat("\x80", 2*incident.MaxLocationText)); len(got) > incident.MaxLocationText {
		t.Errorf("%d bytes", len(got))
	}
}

func TestBefore(t *testing.T) {
	a, b := place(t, "x", 1, 0), place(t, "y", 2, 2)
	other := b
	other.File = 1
	if !a.Before(b) || b.Before(a) || a.Before(a) || !b.Before(other) || other.Before(a) {
		t.Error("files, then offsets")
	}
	pieces := Decode([]byte("10%|# | 1/9 [0<9, 1.0it/s][rank1]: x"), Layout{})
	bar, glued := Placed{Piece: pieces[0]}, Placed{Piece: pieces[1]}
	if !bar.Before(glued) || glued.Before(bar) {
		t.Error("pieces of one line stand in its order")
	}
}

// TestRangeLeavesColoursOut that stand behind the text, and only those.
func TestRangeLeavesColoursOut(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{"plain", "plain"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b[31mred\x1b[0m\x1b[K", "red"},
		{"\x1b[31m[rank3]: \x1b[0mboth \x1b[1mbold\x1b[0m", "both \x1b[1mbold"},
		{"\x1b[31m\x1b[0m", ""},
		{`{"log":"\u001b[31mred é\u001b[0m\n","stream":"stderr"}`, "red é"},
		{`{"log":"say \"hi\"\n","stream":"stderr"}`, `say \"hi\"`},
		{`{"log":"caf\u00e9","stream":"stderr"}`, `caf\u00e9`},
	} {
		p := Placed{Piece: Decode([]byte(tt.raw), Layout{})[0], Length: len(tt.raw)}
		at := p.Location()
		if got := tt.raw[at.Offset:at.EndOffset]; got != tt.want {
			t.Errorf("%q covers %q, want %q", tt.raw, got, tt.want)
		}
	}
}
