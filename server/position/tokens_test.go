package position

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"pgregory.net/rapid"
)

var encodings = []protocol.PositionEncodingKind{
	protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16, protocol.PositionEncodingKindUTF32,
}

func TestTokens(t *testing.T) {
	text := "ab🙂cd\n漢字 x\r\nlast"
	at := func(s string) int { return strings.Index(text, s) }
	tokens := []Token{
		{at("c"), at("c") + 1, 2},
		{at("x"), at("x") + 9, 4}, // runs over the line's end
		{0, at("\n"), 1},          // around the first one
		{at("漢"), at(" x"), 3},
		{at("last"), len(text), 0},
		{5, 5, 9},
		{at("la"), at("st"), 7}, // covered
	}
	for encoding, want := range map[protocol.PositionEncodingKind][]uint32{
		protocol.PositionEncodingKindUTF8:  {0, 0, 6, 1, 0, 0, 6, 1, 2, 0, 0, 1, 1, 1, 0, 1, 0, 6, 3, 0, 0, 7, 1, 4, 0, 1, 0, 4, 0, 0},
		protocol.PositionEncodingKindUTF16: {0, 0, 4, 1, 0, 0, 4, 1, 2, 0, 0, 1, 1, 1, 0, 1, 0, 2, 3, 0, 0, 3, 1, 4, 0, 1, 0, 4, 0, 0},
		protocol.PositionEncodingKindUTF32: {0, 0, 3, 1, 0, 0, 3, 1, 2, 0, 0, 1, 1, 1, 0, 1, 0, 2, 3, 0, 0, 3, 1, 4, 0, 1, 0, 4, 0, 0},
	} {
		if got := New([]byte(text), Convention{Encoding: encoding}).Tokens(tokens); !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %v\nwant %v", encoding, got, want)
		}
	}
	if got := New(nil, Convention{}).Tokens(nil); got == nil || len(got) != 0 {
		t.Errorf("no tokens give %v", got)
	}
}

// TestTokensCoverWhatTheyShould: decoded again, the tokens lie on the characters that
// they were made for, the first of the list on each, and none overlap.
func TestTokensCoverWhatTheyShould(t *testing.T) {
	runes := rapid.SampledFrom([]rune{'a', ' ', 'é', '漢', '🙂', '\n', '\r', 0x1b})
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(runes, 1, 60).Draw(t, "text"))
		var starts []int
		for i := range text {
			starts = append(starts, i)
		}
		starts = append(starts, len(text))
		offset := rapid.SampledFrom(starts)
		var tokens []Token
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			a, b := offset.Draw(t, "a"), offset.Draw(t, "b")
			tokens = append(tokens, Token{min(a, b), max(a, b), uint32(len(tokens))})
		}
		p := New([]byte(text), Convention{Encoding: rapid.SampledFrom(encodings).Draw(t, "encoding")})
		want := map[int]uint32{} // by the byte
		for _, k := range slices.Backward(tokens) {
			_, stop := p.Bounds(p.Line(k.Start))
			for i := k.Start; i < min(k.End, stop); i++ {
				want[i] = k.Type
			}
		}
		got := map[int]uint32{}
		data := p.Tokens(tokens)
		var line, column uint32
		for i := 0; i < len(data); i += 5 {
			if data[i] > 0 {
				column = 0
			}
			line, column = line+data[i], column+data[i+1]
			from := p.Offset(protocol.Position{Line: line, Character: column})
			to := p.Offset(protocol.Position{Line: line, Character: column + data[i+2]})
			if length(text[from:to], p.convention.Encoding) != int(data[i+2]) {
				t.Fatalf("a token of length %d on %q", data[i+2], text[from:to])
			}
			for k := from; k < to; k++ {
				if _, twice := got[k]; twice {
					t.Fatalf("byte %d has two tokens", k)
				}
				got[k] = data[i+3]
			}
		}
		for i := range len(text) {
			if g, ok := got[i]; g != want[i] || ok != contains(want, i) {
				t.Fatalf("byte %d of %q has type %d (%v), want %d", i, text, g, ok, want[i])
			}
		}
	})
}

func contains(m map[int]uint32, k int) bool { _, ok := m[k]; return ok }

// length counts characters in another way than the package does.
func length(s string, encoding protocol.PositionEncodingKind) int {
	switch encoding {
	case protocol.PositionEncodingKindUTF8:
		return len(s)
	case protocol.PositionEncodingKindUTF32:
		return utf8.RuneCountInString(s)
	}
	return len(utf16.Encode([]rune(s)))
}
