package signatures

import "strings"

const (
	// minAnchor is the least length of an anchor: shorter texts stand in too
	// many lines.
	minAnchor = 6
	// gramBits is the size of the first-level table of grams.
	gramBits = 14
)

// anchorIndex finds all anchors in one pass over a text. Every place is looked
// up by its first four bytes, so the cost does not depend on how many anchors
// there are.
type anchorIndex struct {
	// seen says that some anchor begins with a gram of this hash.
	seen [1 << gramBits]bool
	// starts has the anchors that begin with a gram.
	starts map[uint32][]anchor
}

// anchor is one anchor of one message.
type anchor struct {
	text    string
	message int
}

// anchorHit is a place where an anchor of a message stands.
type anchorHit struct {
	message    int
	start, end int
}

// newAnchorIndex indexes the anchors of messages, except those that are too
// short to be anchors.
func newAnchorIndex(messages []*Message) *anchorIndex {
	x := &anchorIndex{starts: map[uint32][]anchor{}}
	for i, m := range messages {
		for _, text := range m.Anchors {
			if len(text) < minAnchor {
				continue
			}
			g := gram(text, 0)
			x.seen[gramHash(g)] = true
			x.starts[g] = append(x.starts[g], anchor{text, i})
		}
	}
	return x
}

// find returns every place of every anchor, in the order of the text.
func (x *anchorIndex) find(text string) []anchorHit {
	if len(text) < minAnchor {
		return nil
	}
	var hits []anchorHit
	g := gram(text, 0) << 8
	for i := 0; i+3 < len(text); i++ {
		g = g>>8 | uint32(text[i+3])<<24
		if !x.seen[gramHash(g)] {
			continue
		}
		for _, a := range x.starts[g] {
			if strings.HasPrefix(text[i:], a.text) {
				hits = append(hits, anchorHit{a.message, i, i + len(a.text)})
			}
		}
	}
	return hits
}

func gram(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

func gramHash(g uint32) uint32 { return g * 0x9E3779B1 >> (32 - gramBits) }
