package position_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server/position"
)

const (
	utf8s  = protocol.PositionEncodingKindUTF8
	utf16s = protocol.PositionEncodingKindUTF16
	utf32s = protocol.PositionEncodingKindUTF32
)

func TestColumnsCountInTheClientsUnit(t *testing.T) {
	// Bytes: a=0 é=1..2 東=3..5 😀=6..9 bad=10 b=11, then CRLF at 12.
	text := []byte("aé東😀\xffb\r\nnext")
	tests := []struct {
		encoding protocol.PositionEncodingKind
		columns  map[int]uint32 // byte offset to column
	}{
		{utf8s, map[int]uint32{0: 0, 1: 1, 3: 3, 6: 6, 10: 10, 11: 11, 12: 12}},
		{utf16s, map[int]uint32{0: 0, 1: 1, 3: 2, 6: 3, 10: 5, 11: 6, 12: 7}},
		{utf32s, map[int]uint32{0: 0, 1: 1, 3: 2, 6: 3, 10: 4, 11: 5, 12: 6}},
		{"", map[int]uint32{6: 3, 10: 5}}, // UTF-16 when nothing was agreed on
	}
	for _, tt := range tests {
		doc := position.New(text, position.Convention{Encoding: tt.encoding})
		for offset, column := range tt.columns {
			want := protocol.Position{Line: 0, Character: column}
			if got := doc.Position(offset); got != want {
				t.Errorf("%q: position of byte %d = %v, want %v", tt.encoding, offset, got, want)
			}
			if got := doc.Offset(want); got != offset {
				t.Errorf("%q: offset of %v = %d, want %d", tt.encoding, want, got, offset)
			}
		}
	}
}

func TestInsideACharacterMeansItsStart(t *testing.T) {
	text := []byte("a😀é")
	doc := position.New(text, position.Convention{Encoding: utf16s})
	for offset, column := range map[int]uint32{1: 1, 2: 1, 3: 1, 4: 1, 5: 3, 6: 3, 7: 4} {
		if got := doc.Position(offset).Character; got != column {
			t.Errorf("column of byte %d = %d, want %d", offset, got, column)
		}
	}
	if got := doc.Offset(protocol.Position{Character: 2}); got != 1 {
		t.Errorf("between two surrogates: offset %d, want 1", got)
	}
	bytewise := position.New(text, position.Convention{Encoding: utf8s})
	if got := bytewise.Offset(protocol.Position{Character: 3}); got != 1 {
		t.Errorf("inside a UTF-8 sequence: offset %d, want 1", got)
	}
}

func TestLineEndings(t *testing.T) {
	type bounds [2]int
	tests := []struct {
		text       string
		loneCRText bool
		want       []bounds
	}{
		{text: "", want: []bounds{{0, 0}}},
		{text: "a", want: []bounds{{0, 1}}},
		{text: "a\n", want: []bounds{{0, 1}, {2, 2}}},
		{text: "a\r\nb", want: []bounds{{0, 1}, {3, 4}}},
		{text: "a\rb\r\r\nc\r", want: []bounds{{0, 1}, {2, 3}, {4, 4}, {6, 7}, {8, 8}}},
		{text: "\n\r", want: []bounds{{0, 0}, {1, 1}, {2, 2}}},
		{text: "a\rb\r\r\nc\r", loneCRText: true, want: []bounds{{0, 4}, {6, 8}}},
	}
	for _, tt := range tests {
		doc := position.New([]byte(tt.text), position.Convention{LoneCRIsText: tt.loneCRText})
		var got []bounds
		for line := range doc.Lines() {
			start, end := doc.Bounds(line)
			got = append(got, bounds{start, end})
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: bounds of the lines (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestPastTheEnd(t *testing.T) {
	doc := position.New([]byte("ab\r\ncd"), position.Convention{Encoding: utf16s})
	for p, want := range map[protocol.Position]int{
		{Line: 0, Character: 99}:                2,
		{Line: 1, Character: 2}:                 6,
		{Line: 1, Character: 1 << 31}:           6,
		{Line: 2, Character: 0}:                 6,
		{Line: 1<<32 - 1, Character: 1<<32 - 1}: 6,
		{Line: 0, Character: 2}:                 2,
	} {
		if got := doc.Offset(p); got != want {
			t.Errorf("offset of %v = %d, want %d", p, got, want)
		}
	}
	for offset, want := range map[int]protocol.Position{
		-5: {Line: 0, Character: 0},
		3:  {Line: 0, Character: 2}, // between the CR and the LF
		99: {Line: 1, Character: 2},
	} {
		if got := doc.Position(offset); got != want {
			t.Errorf("position of byte %d = %v, want %v", offset, got, want)
		}
	}
}

// TestTextsThatShareAnArray appends twice to the same text: the second must not
// write over the first.
func TestTextsThatShareAnArray(t *testing.T) {
	base := position.New([]byte("a\n"), position.Convention{})
	base = base.Replace(2, 2, []byte("b\n")) // now there is room behind the text
	base = base.Replace(4, 4, nil)
	one := base.Replace(4, 4, []byte("1"))
	two := base.Replace(4, 4, []byte("2"))
	if string(one.Bytes()) != "a\nb\n1" || string(two.Bytes()) != "a\nb\n2" || string(base.Bytes()) != "a\nb\n" {
		t.Errorf("texts %q, %q of base %q", one.Bytes(), two.Bytes(), base.Bytes())
	}
}

func TestACRLFSplitOverTwoAppends(t *testing.T) {
	doc := position.New([]byte("a\r"), position.Convention{})
	if got := doc.Lines(); got != 2 {
		t.Fatalf("%d lines after the CR, want 2", got)
	}
	next := doc.Replace(2, 2, []byte("\nb"))
	if got := next.Lines(); got != 2 {
		t.Errorf("%d lines after the LF, want 2", got)
	}
	if got, want := next.Position(3), (protocol.Position{Line: 1}); got != want {
		t.Errorf("position of b = %v, want %v", got, want)
	}
	if got := doc.Lines(); got != 2 {
		t.Errorf("the older text has %d lines now, want 2", got)
	}
}

// FuzzRoundTrip checks that offsets survive the way to positions and back, and
// that an edited index is the index of the edited text.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("aé東😀\xff\r\nb\rc"), 3, 5, []byte("\n"), uint8(1))
	f.Add([]byte("\r\r\n\n\r"), 1, 2, []byte("\r"), uint8(0))
	f.Add([]byte("x\r"), 2, 2, []byte("\ny"), uint8(2))
	f.Add([]byte("100%|\xe2\x96\x88|\r 0%|\r\n"), 0, 0, []byte(""), uint8(5))
	f.Fuzz(func(t *testing.T, text []byte, start, end int, insert []byte, kind uint8) {
		convention := position.Convention{
			Encoding:     []protocol.PositionEncodingKind{utf8s, utf16s, utf32s}[kind%3],
			LoneCRIsText: kind >= 128,
		}
		before := bytes.Clone(text)
		doc := position.New(text, convention)
		edited := doc.Replace(start, end, insert)
		again := edited.Replace(edited.Len(), edited.Len(), insert)
		if !bytes.Equal(doc.Bytes(), before) {
			t.Fatal("an edit changed the older text")
		}
		for _, d := range []*position.Text{doc, edited, again} {
			checkIndex(t, d, convention)
			checkRoundTrip(t, d)
		}
	})
}

func checkIndex(t *testing.T, doc *position.Text, c position.Convention) {
	t.Helper()
	fresh := position.New(bytes.Clone(doc.Bytes()), c)
	if doc.Lines() != fresh.Lines() {
		t.Fatalf("%q has %d lines, counted anew %d", doc.Bytes(), doc.Lines(), fresh.Lines())
	}
	for line := range fresh.Lines() {
		start, end := doc.Bounds(line)
		if s, e := fresh.Bounds(line); s != start || e != end {
			t.Fatalf("line %d of %q is at %d-%d, counted anew %d-%d", line, doc.Bytes(), start, end, s, e)
		}
	}
}

func checkRoundTrip(t *testing.T, doc *position.Text) {
	t.Helper()
	last := protocol.Position{}
	for offset := 0; offset <= doc.Len(); offset++ {
		p := doc.Position(offset)
		if p.Line < last.Line || p.Line == last.Line && p.Character < last.Character {
			t.Fatalf("position of byte %d of %q is %v, before %v", offset, doc.Bytes(), p, last)
		}
		last = p
		back := doc.Offset(p)
		if back > offset || offset-back >= utf8.UTFMax {
			t.Fatalf("byte %d of %q went to %v and came back as %d", offset, doc.Bytes(), p, back)
		}
		if again := doc.Position(back); again != p {
			t.Fatalf("%v of %q went to byte %d and came back as %v", p, doc.Bytes(), back, again)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	line := bytes.Repeat([]byte("x"), 120)
	line[119] = '\n'
	for _, size := range []int{1 << 20, 32 << 20} {
		b.Run(fmt.Sprintf("%dMiB", size>>20), func(b *testing.B) {
			doc := position.New(bytes.Repeat(line, size/len(line)), position.Convention{})
			for b.Loop() {
				doc = doc.Replace(doc.Len(), doc.Len(), line)
			}
		})
	}
}

func TestSame(t *testing.T) {
	whole := func(s string) *position.Text { return position.New([]byte(s), position.Convention{}) }
	long := strings.Repeat("x", 10_000)
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "a", 0}, {"a", "b", 0}, {"abc", "abd", 2}, {"ab", "abc", 2}, {long + "a", long + "b", 10_000}, {long, long, 10_000},
	} {
		if got := whole(tt.a).Same(whole(tt.b)); got != tt.want || whole(tt.b).Same(whole(tt.a)) != tt.want {
			t.Errorf("%d bytes in common, want %d", got, tt.want)
		}
	}
	old := whole("one\n")
	grown, other := old.Replace(4, 4, []byte("two\n")), old.Replace(4, 4, []byte("three\n"))
	edited := grown.Replace(1, 2, []byte("N"))
	for _, tt := range []struct {
		a, b *position.Text
		want int
	}{{old, grown, 4}, {grown, old, 4}, {grown, other, 5}, {edited, grown, 1}, {grown, grown, 8}} {
		if got := tt.a.Same(tt.b); got != tt.want {
			t.Errorf("%q and %q have %d bytes in common, want %d", tt.a.Bytes(), tt.b.Bytes(), got, tt.want)
		}
	}
}
