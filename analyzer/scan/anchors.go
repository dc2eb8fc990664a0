package scan

import (
	"encoding/binary"
	"maps"
	"slices"
)

// finder finds every place where one of many literals starts. It looks at one
// 4-gram every stride bytes: of each literal, stride consecutive grams are
// marked in a small table, so that a literal of stride+3 bytes or more cannot
// slip through. A marked gram is then verified against the literals it came
// from.
type finder struct {
	filters []filter
	// longest is the length of the longest literal.
	longest int
}

type filter struct {
	stride int
	marked [1 << tableBits]bool
	grams  map[uint32][]place
}

// place says that a gram stands at offset in literal.
type place struct {
	literal string
	offset  int
	vital   bool
}

const (
	tableBits = 16
	gramSize  = 4
	// longLiteral is the length from which a literal goes to the faster filter.
	longLiteral = 11
	// shortestLiteral bounds the slow filter's work.
	shortestLiteral = gramSize + 1
)

func hash(gram uint32) uint32 { return gram * 2654435761 >> (32 - tableBits) }

func newFinder(anchors Anchors) *finder {
	f := &finder{}
	vital := map[string]bool{}
	for _, l := range anchors.Ordinary {
		vital[l] = false
	}
	for _, l := range anchors.Vital {
		vital[l] = true
	}
	var long, short []string
	for _, l := range slices.Sorted(maps.Keys(vital)) {
		f.longest = max(f.longest, len(l))
		switch {
		case len(l) >= longLiteral:
			long = append(long, l)
		case len(l) >= shortestLiteral:
			short = append(short, l)
		}
	}
	for _, set := range [][]string{long, short} {
		if len(set) > 0 {
			f.filters = append(f.filters, newFilter(set, vital))
		}
	}
	return f
}

func newFilter(literals []string, vital map[string]bool) filter {
	shortest := slices.MinFunc(literals, func(a, b string) int { return len(a) - len(b) })
	f := filter{stride: len(shortest) - gramSize + 1, grams: map[uint32][]place{}}
	for _, l := range literals {
		from := rarest(l, f.stride)
		for i := from; i < from+f.stride; i++ {
			g := binary.LittleEndian.Uint32([]byte(l[i : i+gramSize]))
			f.marked[hash(g)] = true
			f.grams[g] = append(f.grams[g], place{l, i, vital[l]})
		}
	}
	return f
}

// rarest returns where in the literal the stride consecutive grams start that
// healthy logs hold least of: lower-case letters are common, the rest is rare.
func rarest(literal string, stride int) int {
	best, bestCost := 0, 1<<30
	for from := 0; from+stride+gramSize-1 <= len(literal); from++ {
		cost := 0
		for _, c := range []byte(literal[from : from+stride+gramSize-1]) {
			if c >= 'a' && c <= 'z' || c == ' ' {
				cost++
			}
		}
		if cost < bestCost {
			best, bestCost = from, cost
		}
	}
	return best
}

// find calls hit with the offset of each literal that starts in b[:limit]; the
// bytes from limit on are only looked at to verify. The same offset may come
// twice, and offsets do not come in order.
func (f *finder) find(b []byte, limit int, hit func(offset int, vital bool)) {
	for i := range f.filters {
		f.filters[i].find(b, limit, hit)
	}
}

func (f *filter) find(b []byte, limit int, hit func(offset int, vital bool)) {
	for i := 0; i+gramSize <= len(b); i += f.stride {
		g := binary.LittleEndian.Uint32(b[i:])
		if !f.marked[hash(g)] {
			continue
		}
		for _, p := range f.grams[g] {
			start := i - p.offset
			if start >= 0 && start < limit && start+len(p.literal) <= len(b) && string(b[start:start+len(p.literal)]) == p.literal {
				hit(start, p.vital)
			}
		}
	}
}
