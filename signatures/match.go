package signatures

import (
	"cmp"
	"slices"
	"strings"
)

// Match is a message that was recognised in a text.
type Match struct {
	Message *Message
	// Start and End are the byte range of what the message's pattern matched,
	// or of the anchor where it has no pattern.
	Start, End int

	facts func() map[string]Capture
}

// Facts reads what the text says. Most matches of a long log are dropped unread.
func (m Match) Facts() map[string]Capture { return m.facts() }

// Capture is a fact as it was printed, and where.
type Capture struct {
	// Kind is one of the Kind constants and says how to read Text.
	Kind       string
	Text       string
	Start, End int
}

// In texts longer than wholeText a pattern is looked for only around its
// anchors, so that one endless line cannot make every pattern walk over it.
const (
	wholeText    = 8 << 10
	windowBefore = 2 << 10
	windowAfter  = 6 << 10
	// maxWindows is how many places of its anchors are tried for one message.
	maxWindows = 4
)

// Match returns the messages that the text is, in the order of the message
// files. The text is one line, or several wrapped lines joined, without colours
// and prefixes.
func (s *Set) Match(text string) []Match {
	hits := s.anchors.find(text)
	if len(hits) == 0 {
		return nil
	}
	slices.SortFunc(hits, func(a, b anchorHit) int {
		return cmp.Or(cmp.Compare(a.message, b.message), cmp.Compare(a.start, b.start))
	})
	var matches []Match
	for len(hits) > 0 {
		n := 1
		for n < len(hits) && hits[n].message == hits[0].message {
			n++
		}
		if m, ok := s.matchers[hits[0].message].match(text, hits[:n]); ok {
			matches = append(matches, m)
		}
		hits = hits[n:]
	}
	return matches
}

// match tries the message at the places of its anchors.
func (m *matcher) match(text string, hits []anchorHit) (Match, bool) {
	if len(m.compiled().errs) > 0 {
		return Match{}, false
	}
	if len(text) <= wholeText {
		return m.matchWindow(text, 0, hits[0])
	}
	for _, h := range m.places(hits) {
		start, end := max(0, h.start-windowBefore), min(len(text), h.end+windowAfter)
		if match, ok := m.matchWindow(text[start:end], start, h); ok {
			return match, true
		}
	}
	return Match{}, false
}

// places chooses the anchors whose surroundings are tried in a long text: the
// first ones that are well apart, or the last ones for progress, where a
// progress bar's states follow each other and the last counts.
func (m *matcher) places(hits []anchorHit) []anchorHit {
	if m.message.Capture == "progress" {
		hits = slices.Clone(hits)
		slices.Reverse(hits)
	}
	chosen := hits[:1:1]
	for _, h := range hits[1:] {
		last := chosen[len(chosen)-1]
		if len(chosen) < maxWindows && max(h.start-last.start, last.start-h.start) > windowAfter/2 {
			chosen = append(chosen, h)
		}
	}
	return chosen
}

// matchWindow looks for the pattern in a part of the text that begins at offset.
func (m *matcher) matchWindow(window string, offset int, hit anchorHit) (Match, bool) {
	p := m.compiled()
	match := Match{Message: m.message, Start: hit.start, End: hit.end}
	var groups []int
	if p.pattern != nil {
		groups = p.pattern.find(window)
		if groups == nil {
			return Match{}, false
		}
		match.Start, match.End = offset+groups[0], offset+groups[1]
	}
	if p.unless != nil && p.unless.find(window) != nil || quoted(window, match.Start-offset) {
		return Match{}, false
	}
	match.facts = func() map[string]Capture {
		facts := map[string]Capture{}
		if p.pattern != nil {
			p.capture(facts, p.pattern, window, groups, offset)
		}
		for _, re := range p.facts {
			if groups := re.find(window); groups != nil {
				p.capture(facts, re, window, groups, offset)
			}
		}
		return facts
	}
	return match, true
}

// capture adds the named groups that took part in a match. The first capture of
// a name stays.
func (p *patterns) capture(facts map[string]Capture, re *search, window string, groups []int, offset int) {
	for i, name := range re.SubexpNames() {
		if name == "" || groups[2*i] < 0 || groups[2*i] == groups[2*i+1] {
			continue
		}
		if _, ok := facts[name]; ok {
			continue
		}
		start, end := groups[2*i], groups[2*i+1]
		facts[name] = Capture{
			Kind:  p.kinds[name],
			Text:  strings.Clone(window[start:end]),
			Start: offset + start, End: offset + end,
		}
	}
}
