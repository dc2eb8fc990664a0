package pysource

import (
	"bytes"
	"sort"
)

// MaxSource bounds the size of a source that is read, in bytes. No file that a
// person edits comes near it.
const MaxSource = 4 << 20

// MaxSites bounds the sites that are kept of one file.
const MaxSites = 1000

// Source is what was found in one Python file. It keeps the bytes it was made
// from, which must not change under it, and is otherwise read-only.
type Source struct {
	// Sites are the calls found, in the order of [Site.Start].
	Sites []Site
	// Newline is the line break that the file uses first, "\n" if it has none.
	Newline string
	// Problem says what Python would not read; it is empty for sound source.
	// Only the first problem is kept.
	Problem string
	// ProblemLine is the line of the problem, from 1.
	ProblemLine int

	src        []byte
	lineStarts []int
	tokens     []token
	match      []int32
	lines      []logicalLine
	blocks     []block
	blockOf    []int32 // per token: the block it is run in
	loops      []loop
	loopOf     []int32 // per token: the innermost loop of its function, or -1
	statements []statement
	scopes     map[int32]*scope
	calls      []call
	streams    map[string]bool // names that hold streams
}

// Scan reads Python source. It takes any bytes.
func Scan(src []byte) *Source {
	s := &Source{src: src, Newline: "\n"}
	s.lineStarts = lineStarts(src)
	if len(s.lineStarts) > 1 {
		end := s.lineStarts[1]
		s.Newline = string(src[lineEnd(src, 0):end])
	}
	if len(src) > MaxSource {
		s.Problem, s.ProblemLine = "the source is too large", 1
		return s
	}
	lex := lexer{src: src}
	lex.run()
	s.tokens, s.match, s.lines = lex.tokens, lex.match, lex.lines
	s.buildBlocks(&lex)
	s.buildLoops()
	s.buildScopes()
	s.findCalls()
	s.findStreams()
	s.findSites(&lex)
	if lex.problem != "" {
		s.Problem, s.ProblemLine = lex.problem, s.lineOf(lex.problemAt)
	}
	return s
}

// lineStarts counts lines as Python does: \n, \r and \r\n each end one.
func lineStarts(src []byte) []int {
	starts := make([]int, 1, 1+bytes.Count(src, []byte("\n")))
	for pos := lineEnd(src, 0); pos < len(src); pos = lineEnd(src, pos) {
		pos = skipLineBreak(src, pos)
		starts = append(starts, pos)
	}
	return starts
}

// lineOf is the line of an offset, from 1.
func (s *Source) lineOf(offset int) int {
	return sort.SearchInts(s.lineStarts, offset+1)
}

// lineStart is where the physical line of an offset starts.
func (s *Source) lineStart(offset int) int {
	return s.lineStarts[s.lineOf(offset)-1]
}

// is reports whether token i exists and reads text, as a name or operator.
func (s *Source) is(i int32, text string) bool {
	if i < 0 || int(i) >= len(s.tokens) {
		return false
	}
	t := s.tokens[i]
	return t.kind != textToken && string(s.src[t.start:t.end]) == text
}

// text is the spelling of token i, empty if there is none.
func (s *Source) text(i int32) string {
	if i < 0 || int(i) >= len(s.tokens) {
		return ""
	}
	t := s.tokens[i]
	return string(s.src[t.start:t.end])
}

// isName reports whether token i is a name and no keyword.
func (s *Source) isName(i int32) bool {
	if i < 0 || int(i) >= len(s.tokens) || s.tokens[i].kind != nameToken {
		return false
	}
	t := s.tokens[i]
	return !keywords[string(s.src[t.start:t.end])]
}

// isOpening reports whether token i opens a bracket that is also closed.
func (s *Source) isOpening(i int32) bool { return s.match[i] > i }

// isBracket reports whether token i opens a bracket, closed or not.
func (s *Source) isBracket(i int32) bool {
	t := s.tokens[i]
	if t.kind != opToken {
		return false
	}
	c := s.src[t.start]
	return c == '(' || c == '[' || c == '{'
}

// skip is the token after i, or after the bracket pair that i opens. An open
// bracket without a partner skips to last.
func (s *Source) skip(i, last int32) int32 {
	if s.isBracket(i) {
		if s.match[i] < 0 || s.match[i] >= last {
			return last
		}
		return s.match[i] + 1
	}
	return i + 1
}

// find is the first token from first on, outside brackets, that reads text,
// or last.
func (s *Source) find(first, last int32, text string) int32 {
	for i := first; i < last; i = s.skip(i, last) {
		if s.is(i, text) {
			return i
		}
	}
	return last
}
