package signatures

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Match is a message that was recognised in a text.
type Match struct {
	Message *Message
	Facts   map[string]Capture
	// Start and End are the byte range of what the message's pattern matched,
	// or of the anchor where it has no pattern.
	Start, End int
}

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
	wholeText    = 16 << 10
	windowBefore = 4 << 10
	windowAfter  = 12 << 10
	// maxWindows is how many places of its anchors are tried for one message.
	maxWindows = 8
)

// matcher is the compiled form of a message.
type matcher struct {
	message *Message
	pattern *regexp.Regexp // nil: the anchor is enough
	unless  *regexp.Regexp // nil: nothing looks alike
	facts   []*regexp.Regexp
	kinds   map[string]string
}

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
	if m.pattern == nil && m.unless == nil && len(m.facts) == 0 {
		return Match{Message: m.message, Facts: map[string]Capture{}, Start: hits[0].start, End: hits[0].end}, true
	}
	if len(text) <= wholeText {
		return m.matchWindow(text, 0, hits[0])
	}
	end := 0 // of the last window that was tried
	tried := 0
	for _, h := range hits {
		if h.end <= end {
			continue
		}
		if tried == maxWindows {
			break
		}
		tried++
		start := max(0, h.start-windowBefore)
		window := min(len(text), h.end+windowAfter)
		if match, ok := m.matchWindow(text[start:window], start, h); ok {
			return match, true
		}
		// A later anchor near the window's end may need text behind it.
		end = window - windowAfter/2
	}
	return Match{}, false
}

// matchWindow looks for the pattern in a part of the text that begins at offset.
func (m *matcher) matchWindow(window string, offset int, hit anchorHit) (Match, bool) {
	if m.unless != nil && m.unless.MatchString(window) {
		return Match{}, false
	}
	match := Match{Message: m.message, Facts: map[string]Capture{}, Start: hit.start, End: hit.end}
	if m.pattern != nil {
		at := m.pattern.FindStringSubmatchIndex(window)
		if at == nil {
			return Match{}, false
		}
		match.Start, match.End = offset+at[0], offset+at[1]
		m.capture(match.Facts, m.pattern, window, at, offset)
	}
	for _, re := range m.facts {
		if at := re.FindStringSubmatchIndex(window); at != nil {
			m.capture(match.Facts, re, window, at, offset)
		}
	}
	return match, true
}

// capture adds the named groups that took part in a match. The first capture of
// a name stays.
func (m *matcher) capture(facts map[string]Capture, re *regexp.Regexp, window string, at []int, offset int) {
	for i, name := range re.SubexpNames() {
		if name == "" || at[2*i] < 0 || at[2*i] == at[2*i+1] {
			continue
		}
		if _, ok := facts[name]; ok {
			continue
		}
		start, end := at[2*i], at[2*i+1]
		facts[name] = Capture{
			Kind:  m.kinds[name],
			Text:  strings.Clone(window[start:end]),
			Start: offset + start, End: offset + end,
		}
	}
}
