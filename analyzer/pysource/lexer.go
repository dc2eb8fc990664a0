package pysource

import "bytes"

// maxFailedStrings bounds how many unclosed strings may be searched for their
// end through the rest of the source. After that a string ends at the next
// quote or line end, so that hostile text costs no more than a few passes.
const maxFailedStrings = 16

const byteOrderMark = "\xef\xbb\xbf"

// logicalLine is one statement line as Python sees it: brackets, strings and
// backslashes may spread it over several physical lines.
type logicalLine struct {
	first, last int32 // its tokens; last is exclusive
	start       int   // offset of its first physical line
	indentEnd   int   // where its indentation ends
	column      int   // indentation with tab stops at 8, as Python counts
	tabless     int   // indentation with tabs counted as 1: tells mixed tabs apart
}

// lexer turns bytes into tokens and logical lines. It takes every input.
type lexer struct {
	src           []byte
	pos           int
	tokens        []token
	match         []int32 // for a bracket the index of its partner, else -1
	open          []int32 // brackets that are open
	lines         []logicalLine
	failedStrings int

	problem   string
	problemAt int
}

func (l *lexer) run() {
	if bytes.HasPrefix(l.src, []byte(byteOrderMark)) {
		l.pos = len(byteOrderMark)
	}
	l.tokens = make([]token, 0, len(l.src)/5)
	l.match = make([]int32, 0, len(l.src)/5)
	for l.pos < len(l.src) {
		l.logicalLine()
	}
}

// complain notes the first thing that Python would not read.
func (l *lexer) complain(offset int, problem string) {
	if l.problem == "" {
		l.problem, l.problemAt = problem, offset
	}
}

func (l *lexer) logicalLine() {
	line := logicalLine{first: int32(len(l.tokens)), start: l.pos}
	line.column, line.tabless = l.indentation()
	line.indentEnd = l.pos
	for l.next() {
	}
	if len(l.open) > 0 {
		l.complain(l.tokens[l.open[0]].start, "a bracket is not closed")
		l.open = l.open[:0]
	}
	line.last = int32(len(l.tokens))
	if line.last > line.first {
		l.lines = append(l.lines, line)
	}
}

func (l *lexer) indentation() (column, tabless int) {
	for ; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case ' ':
			column++
			tabless++
		case '\t':
			column = (column/8 + 1) * 8
			tabless++
		case '\f':
			column, tabless = 0, 0
		default:
			return column, tabless
		}
	}
	return column, tabless
}

// next reads one token or line break. It returns false at the end of the
// logical line, having moved past it.
func (l *lexer) next() bool {
	l.skipBlank()
	if l.pos >= len(l.src) {
		return false
	}
	switch c := l.src[l.pos]; {
	case isLineBreak(c):
		l.pos = skipLineBreak(l.src, l.pos)
		return len(l.open) > 0 && !l.statementAhead()
	case c == '"' || c == '\'':
		l.text(l.pos)
	case isNameStart(c):
		end := nameEnd(l.src, l.pos)
		if end < len(l.src) && (l.src[end] == '"' || l.src[end] == '\'') && isPrefix(l.src[l.pos:end]) {
			l.text(end)
		} else {
			l.push(nameToken, end)
		}
	case isDigit(c), c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		l.push(numberToken, numberEnd(l.src, l.pos))
	default:
		l.operator()
	}
	return true
}

// skipBlank skips white space, joined lines and a comment.
func (l *lexer) skipBlank() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\f':
			l.pos++
		case c == '\\' && l.pos+1 < len(l.src) && isLineBreak(l.src[l.pos+1]):
			l.pos = skipLineBreak(l.src, l.pos+1)
		case c == '#':
			l.pos = lineEnd(l.src, l.pos)
		default:
			return
		}
	}
}

func (l *lexer) push(kind tokenKind, end int) {
	l.tokens = append(l.tokens, token{kind, l.pos, end})
	l.match = append(l.match, -1)
	l.pos = end
}

func (l *lexer) operator() {
	start := l.pos
	l.push(opToken, start+operatorLength(l.src[start:]))
	index := int32(len(l.tokens) - 1)
	switch c := l.src[start]; c {
	case '(', '[', '{':
		l.open = append(l.open, index)
	case ')', ']', '}':
		if len(l.open) == 0 {
			l.complain(start, "a bracket is closed that was not opened")
			return
		}
		partner := l.open[len(l.open)-1]
		l.open = l.open[:len(l.open)-1]
		l.match[partner], l.match[index] = index, partner
		if want := closing(l.src[l.tokens[partner].start]); c != want {
			l.complain(start, "brackets do not match")
		}
	case '$', '?', '`', '\\', 0x7f:
		l.complain(start, "a character that is not Python")
	case '!':
		if l.pos == start+1 {
			l.complain(start, "a character that is not Python")
		}
	default:
		if c < ' ' {
			l.complain(start, "a character that is not Python")
		}
	}
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// text reads a string literal from its prefix at l.pos; quote is where its
// quotes start.
func (l *lexer) text(quote int) {
	prefix := l.src[l.pos:quote]
	lit, body := literalAt(l.src, quote, prefix)
	end, ok := 0, false
	switch {
	case l.failedStrings >= maxFailedStrings:
	case isFormatted(prefix):
		end, ok = formattedEnd(l.src, body, lit, 0)
	default:
		end, ok = literalEnd(l.src, body, lit)
	}
	if !ok {
		l.complain(l.pos, "a string is not closed")
		l.failedStrings++
		// What follows on the line is more likely code than text.
		lit.triple = false
		end, _ = literalEnd(l.src, body, lit)
	}
	l.push(textToken, end)
}

// statementAhead reports whether the line at l.pos starts a statement although
// a bracket is open: then the bracket was never closed.
func (l *lexer) statementAhead() bool {
	pos := l.pos
	for pos < len(l.src) && (l.src[pos] == ' ' || l.src[pos] == '\t') {
		pos++
	}
	if pos == l.pos && pos+1 < len(l.src) && l.src[pos] == '@' {
		return isNameStart(l.src[pos+1])
	}
	end := nameEnd(l.src, pos)
	word := l.src[pos:end]
	if string(word) == "async" {
		for end < len(l.src) && (l.src[end] == ' ' || l.src[end] == '\t') {
			end++
		}
		word = l.src[end:nameEnd(l.src, end)]
	}
	return statementWords[string(word)]
}
