package signatures

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// search finds what its regular expression finds, in less time: most lines lack a
// text that every match needs, and of the others only the part from just before the
// first such text on is looked at.
type search struct {
	*regexp.Regexp
	// needed are the texts that stand in every match, in this order, none over
	// another. Of each, one of the spellings does.
	needed [][]string
	// before is how many bytes of a match can stand in front of the first of them.
	before int
}

// endless is the length of what has no bound; no text is longer.
const endless = 1 << 20

func newSearch(re *regexp.Regexp) *search {
	s := &search{Regexp: re}
	if parsed, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		s.walk(parsed)
	}
	return s
}

// walk goes along what stands in every match.
func (s *search) walk(re *syntax.Regexp) {
	switch {
	case re.Op == syntax.OpConcat, re.Op == syntax.OpCapture:
		for _, sub := range re.Sub {
			s.walk(sub)
		}
		return
	case isPlain(re):
		s.needed = append(s.needed, []string{string(re.Rune)})
		return
	}
	if len(s.needed) == 0 {
		s.before = min(s.before+longest(re), endless)
	}
	if re.Op == syntax.OpAlternate {
		s.oneOf(re.Sub)
	}
}

// oneOf adds a text of which each of the expressions needs a spelling.
func (s *search) oneOf(all []*syntax.Regexp) {
	var spellings []string
	for _, re := range all {
		var one search
		one.walk(re)
		if len(one.needed) == 0 {
			return
		}
		spellings = append(spellings, one.needed[0]...)
	}
	s.needed = append(s.needed, spellings)
}

// isPlain reports whether the expression is a text that matches itself alone. A
// replacement character also matches bytes that are no UTF-8.
func isPlain(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !strings.ContainsRune(string(re.Rune), utf8.RuneError)
}

// longest is the most bytes that the expression can match.
func longest(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		n = utf8.UTFMax * len(re.Rune) // in either case
		if isPlain(re) {
			n = len(string(re.Rune))
		}
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = utf8.UTFMax
		if k := len(re.Rune); k > 0 && re.Rune[k-1] < utf8.RuneSelf {
			n = 1
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		n = endless
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, longest(sub))
		}
	default: // a sequence, a group, something optional; a place is no text
		for _, sub := range re.Sub {
			n = min(n+longest(sub), endless)
		}
	}
	return n
}

// find is FindStringSubmatchIndex of the text.
func (s *search) find(text string) []int {
	start := s.start(text)
	if start < 0 {
		return nil
	}
	groups := s.FindStringSubmatchIndex(text[start:])
	for i := range groups {
		if groups[i] >= 0 {
			groups[i] += start
		}
	}
	return groups
}

// start returns where the part of the text begins that a match can stand in, -1 if
// none can. A match begins at least one character behind that, unless it is the
// text's start: ^ and \b see the same in the part as in the text.
func (s *search) start(text string) int {
	start, from := 0, 0
	for i, spellings := range s.needed {
		at, end := firstOf(text, from, spellings)
		if at < 0 {
			return -1
		}
		if i == 0 {
			start = max(0, at-s.before-1)
		}
		from = end
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	return start
}

// firstOf returns where the first of the spellings begins in the text from an offset
// on, and where the first ends; -1 if none stands there.
func firstOf(text string, from int, spellings []string) (at, end int) {
	at, end = -1, -1
	for _, s := range spellings {
		i := strings.Index(text[from:], s)
		if i < 0 {
			continue
		}
		i += from
		if at < 0 || i < at {
			at = i
		}
		if end < 0 || i+len(s) < end {
			end = i + len(s)
		}
	}
	return at, end
}
