package outline

import "bytes"

// maxShape bounds how much of a line its shape is told from, in bytes.
const maxShape = 512

// shape is a number that lines have in common which differ in figures only. A
// line with a progress bar has the shape of what stands in front of the bar, and
// one that was rewritten the shape of its first writing.
//
//	iteration       10/     500 | elapsed time per iteration (ms): 612.4 | lm loss: 6.91E+00
//	iteration      100/     500 | elapsed time per iteration (ms): 598.25 | lm loss: 0.5
func shape(text []byte) (h uint64, bar bool) {
	text = text[:min(len(text), maxShape)]
	if i := bytes.IndexByte(text, '\r'); i >= 0 {
		text = text[:i]
	}
	if i := bytes.Index(text, []byte("%|")); i >= 0 {
		text, bar = text[:i], true
	}
	const prime = 1099511628211 // of FNV-1a
	h = 14695981039346656037
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
			for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
				i++
			}
			c = ' '
		case isDigit(c) || c == '-' && i+1 < len(text) && isDigit(text[i+1]):
			i += number(text[i:])
			c = '0'
		default:
			i++
		}
		h = (h ^ uint64(c)) * prime
	}
	return h, bar
}

// number is the length of the number at the start of b: -12, 6.91E+00, 1,024, 0x7f02.
func number(b []byte) int {
	i := 1 // a digit or a sign
	if len(b) > 2 && b[0] == '0' && b[1] == 'x' {
		i = 2
		for i < len(b) && (isDigit(b[i]) || b[i] >= 'a' && b[i] <= 'f') {
			i++
		}
		return i
	}
	for i < len(b) {
		next := i + 1
		switch c := b[i]; {
		case isDigit(c):
		case c == '.' || c == ',':
			if next == len(b) || !isDigit(b[next]) {
				return i
			}
		case c == 'e' || c == 'E':
			if next < len(b) && (b[next] == '+' || b[next] == '-') {
				next++
			}
			if next == len(b) || !isDigit(b[next]) {
				return i
			}
		default:
			return i
		}
		i = next
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
