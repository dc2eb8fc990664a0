package pysource

// tokenKind says what a token is; comments and white space are no tokens.
type tokenKind uint8

const (
	nameToken tokenKind = iota // identifiers and keywords
	numberToken
	textToken // a whole string literal, prefix and quotes included
	opToken   // operators, brackets, and any byte Python has no use for
)

// token is a stretch of the source.
type token struct {
	kind       tokenKind
	start, end int
}

// keywords are the words that can be no name and no called function.
var keywords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true,
	"async": true, "await": true, "break": true, "class": true, "continue": true, "def": true,
	"del": true, "elif": true, "else": true, "except": true, "finally": true, "for": true,
	"from": true, "global": true, "if": true, "import": true, "in": true, "is": true,
	"lambda": true, "nonlocal": true, "not": true, "or": true, "pass": true, "raise": true,
	"return": true, "try": true, "while": true, "with": true, "yield": true,
}

// statementWords start a statement and can stand nowhere inside brackets, so
// that a line which starts with one ends every bracket left open before it.
var statementWords = map[string]bool{
	"assert": true, "break": true, "class": true, "continue": true, "def": true, "del": true,
	"except": true, "finally": true, "global": true, "import": true, "nonlocal": true,
	"pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true,
}

var longOperators = [...]string{
	"**=", "//=", ">>=", "<<=", "...",
	"**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", ":=",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "<>",
}

// operatorLength is the length of the operator that src starts with, at least 1.
func operatorLength(src []byte) int {
	if len(src) < 2 || isNamePart(src[1]) || src[1] == ' ' {
		return 1
	}
	for _, op := range longOperators {
		if len(src) >= len(op) && string(src[:len(op)]) == op {
			return len(op)
		}
	}
	return 1
}

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNamePart(c byte) bool { return isNameStart(c) || isDigit(c) }

// nameEnd is the end of the name that starts at pos.
func nameEnd(src []byte, pos int) int {
	for pos < len(src) && isNamePart(src[pos]) {
		pos++
	}
	return pos
}

// numberEnd is the end of the number that starts at pos. It follows the
// grammar rather than eat letters, so that 1if and 1.0.hex() come apart.
func numberEnd(src []byte, pos int) int {
	at := func(i int) byte {
		if i < len(src) {
			return src[i]
		}
		return 0
	}
	digits := func() {
		for isDigit(at(pos)) || at(pos) == '_' {
			pos++
		}
	}
	if at(pos) == '0' {
		switch at(pos+1) | 0x20 {
		case 'x':
			pos += 2
			for isDigit(at(pos)) || at(pos) == '_' || 'a' <= at(pos)|0x20 && at(pos)|0x20 <= 'f' {
				pos++
			}
			return pos
		case 'o', 'b':
			pos += 2
			digits()
			return pos
		}
	}
	digits()
	if at(pos) == '.' {
		pos++
		digits()
	}
	if at(pos)|0x20 == 'e' {
		next := pos + 1
		if at(next) == '+' || at(next) == '-' {
			next++
		}
		if isDigit(at(next)) {
			pos = next
			digits()
		}
	}
	if c := at(pos) | 0x20; c == 'j' || c == 'l' {
		pos++
	}
	return pos
}
