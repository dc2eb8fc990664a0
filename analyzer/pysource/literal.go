package pysource

// maxNesting bounds how deep f-strings may nest in each other's fields.
const maxNesting = 64

// literal is the manner of a string: its quote and how far it may reach.
type literal struct {
	quote  byte
	triple bool
	raw    bool
}

// literalAt reads the opening quotes at pos; prefix is what stands before them.
func literalAt(src []byte, pos int, prefix []byte) (lit literal, body int) {
	lit.quote = src[pos]
	for _, c := range prefix {
		lit.raw = lit.raw || c|0x20 == 'r'
	}
	if pos+2 < len(src) && src[pos+1] == lit.quote && src[pos+2] == lit.quote {
		lit.triple = true
		return lit, pos + 3
	}
	return lit, pos + 1
}

// isPrefix reports whether name can stand before a quote, as in rb"".
func isPrefix(name []byte) bool {
	if len(name) > 2 {
		return false
	}
	for _, c := range name {
		switch c | 0x20 {
		case 'r', 'b', 'u', 'f', 't':
		default:
			return false
		}
	}
	return true
}

// isFormatted reports whether a string with this prefix has {fields}.
func isFormatted(prefix []byte) bool {
	for _, c := range prefix {
		if c|0x20 == 'f' || c|0x20 == 't' {
			return true
		}
	}
	return false
}

// closer is the length of the closing quotes at pos, 0 if there are none.
func (lit literal) closer(src []byte, pos int) int {
	if src[pos] != lit.quote {
		return 0
	}
	if !lit.triple {
		return 1
	}
	if pos+2 < len(src) && src[pos+1] == lit.quote && src[pos+2] == lit.quote {
		return 3
	}
	return 0
}

// literalEnd is the end of a string without fields whose body starts at pos.
// A string that is not closed ends at the line end, or at the end of the source
// if it may span lines.
func literalEnd(src []byte, pos int, lit literal) (end int, ok bool) {
	for pos < len(src) {
		if n := lit.closer(src, pos); n > 0 {
			return pos + n, true
		}
		switch c := src[pos]; {
		case c == '\\':
			pos = skipEscape(src, pos)
		case !lit.triple && isLineBreak(c):
			return pos, false
		default:
			pos++
		}
	}
	return pos, false
}

// formattedEnd is [literalEnd] for an f-string. Its fields may hold strings
// with the same quotes (Python 3.12), which an older Python does not read, so
// that one rule serves all versions. After a failure end means nothing.
func formattedEnd(src []byte, pos int, lit literal, depth int) (end int, ok bool) {
	for pos < len(src) {
		if n := lit.closer(src, pos); n > 0 {
			return pos + n, true
		}
		switch c := src[pos]; {
		case c == '\\':
			pos = skipFormattedEscape(src, pos, lit)
		case !lit.triple && isLineBreak(c):
			return pos, false
		case c == '{' && pos+1 < len(src) && src[pos+1] == '{':
			pos += 2
		case c == '{':
			if pos, ok = fieldEnd(src, pos+1, lit, depth+1); !ok {
				return pos, false
			}
		default:
			pos++
		}
	}
	return pos, false
}

// fieldEnd is the position after the } that ends the field whose expression
// starts at pos.
func fieldEnd(src []byte, pos int, lit literal, depth int) (end int, ok bool) {
	if depth > maxNesting {
		return pos, false
	}
	brackets := 0
	for pos < len(src) {
		switch c := src[pos]; {
		case c == '}' && brackets == 0:
			return pos + 1, true
		case c == ':' && brackets == 0:
			return specEnd(src, pos+1, lit, depth)
		case c == '(' || c == '[' || c == '{':
			brackets++
			pos++
		case c == ')' || c == ']' || c == '}':
			if brackets == 0 {
				return pos, false
			}
			brackets--
			pos++
		case c == '#':
			pos = lineEnd(src, pos)
		case c == '\\':
			pos = skipEscape(src, pos)
		case c == '"' || c == '\'':
			if pos, ok = nestedEnd(src, pos, nil, depth); !ok {
				return pos, false
			}
		case isNameStart(c):
			name := pos
			pos = nameEnd(src, pos)
			if pos < len(src) && (src[pos] == '"' || src[pos] == '\'') && isPrefix(src[name:pos]) {
				if pos, ok = nestedEnd(src, pos, src[name:pos], depth); !ok {
					return pos, false
				}
			}
		default:
			pos++
		}
	}
	return pos, false
}

// specEnd ends a field that has come to its format specification.
func specEnd(src []byte, pos int, lit literal, depth int) (end int, ok bool) {
	for pos < len(src) {
		switch c := src[pos]; {
		case c == '}':
			return pos + 1, true
		case c == '{':
			if pos, ok = fieldEnd(src, pos+1, lit, depth+1); !ok {
				return pos, false
			}
		case lit.closer(src, pos) > 0, !lit.triple && isLineBreak(c):
			return pos, false
		case c == '\\':
			pos = skipFormattedEscape(src, pos, lit)
		default:
			pos++
		}
	}
	return pos, false
}

// nestedEnd is the end of a string inside a field; its quotes start at pos.
func nestedEnd(src []byte, pos int, prefix []byte, depth int) (end int, ok bool) {
	lit, body := literalAt(src, pos, prefix)
	if isFormatted(prefix) {
		return formattedEnd(src, body, lit, depth+1)
	}
	return literalEnd(src, body, lit)
}

// skipEscape is the position after a backslash and what it escapes.
func skipEscape(src []byte, pos int) int {
	if pos+1 >= len(src) {
		return len(src)
	}
	if isLineBreak(src[pos+1]) {
		return skipLineBreak(src, pos+1)
	}
	return pos + 2
}

// skipFormattedEscape is [skipEscape] in an f-string, where a backslash does
// not hide a brace but \N{...} has braces of its own.
func skipFormattedEscape(src []byte, pos int, lit literal) int {
	if pos+1 < len(src) && (src[pos+1] == '{' || src[pos+1] == '}') {
		return pos + 1
	}
	if lit.raw || pos+2 >= len(src) || src[pos+1] != 'N' || src[pos+2] != '{' {
		return skipEscape(src, pos)
	}
	for pos += 3; pos < len(src); pos++ {
		if c := src[pos]; c == '}' {
			return pos + 1
		} else if c == lit.quote || isLineBreak(c) {
			break
		}
	}
	return pos
}

func isLineBreak(c byte) bool { return c == '\n' || c == '\r' }

// skipLineBreak is the position after the line break at pos; \r\n is one break.
func skipLineBreak(src []byte, pos int) int {
	if src[pos] == '\r' && pos+1 < len(src) && src[pos+1] == '\n' {
		return pos + 2
	}
	return pos + 1
}

// lineEnd is the position of the next line break, or the end of the source.
func lineEnd(src []byte, pos int) int {
	for pos < len(src) && !isLineBreak(src[pos]) {
		pos++
	}
	return pos
}
