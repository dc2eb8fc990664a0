package position

import (
	"maps"
	"slices"
	"sort"
)

// Token is a stretch of a text that has a type, which is an index into a legend.
type Token struct {
	Start, End int // bytes
	Type       uint32
}

// Tokens encodes tokens as the protocol does: five numbers each, positions relative
// to the token before. A token ends with the client's line on which it starts; empty
// ones are left out, and so is what an earlier token of the list covers.
func (t *Text) Tokens(tokens []Token) []uint32 {
	byLine := map[int][]Token{}
	for _, k := range tokens {
		line := t.Line(k.Start)
		_, stop := t.Bounds(line)
		k.End = min(k.End, stop)
		byLine[line] = uncovered(byLine[line], k)
	}
	data := make([]uint32, 0, 5*len(tokens))
	var line, column uint32
	for _, n := range slices.Sorted(maps.Keys(byLine)) {
		for _, k := range byLine[n] {
			r := t.Range(k.Start, k.End)
			if r.End.Character <= r.Start.Character {
				continue
			}
			if r.Start.Line != line {
				data = append(data, r.Start.Line-line, r.Start.Character)
			} else {
				data = append(data, 0, r.Start.Character-column)
			}
			data = append(data, r.End.Character-r.Start.Character, k.Type, 0)
			line, column = r.Start.Line, r.Start.Character
		}
	}
	return data
}

// uncovered adds a token to sorted ones that do not overlap, without what they cover:
// around others it becomes the parts between them.
func uncovered(sorted []Token, k Token) []Token {
	at := sort.Search(len(sorted), func(i int) bool { return sorted[i].End > k.Start })
	for start := k.Start; start < k.End; at++ {
		next := k.End
		if at < len(sorted) {
			next = min(next, sorted[at].Start)
		}
		if start < next {
			sorted = slices.Insert(sorted, at, Token{start, next, k.Type})
			at++
		}
		if at >= len(sorted) {
			break
		}
		start = max(start, sorted[at].End)
	}
	return sorted
}
