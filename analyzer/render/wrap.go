package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrap breaks text at blanks into lines of at most width characters; a longer
// word is broken where it must be.
func wrap(s string, width int) []string { return wrapFirst(s, width, width) }

// wrapFirst is wrap with another width for the first line. It returns at least
// one line. What a terminal would obey is taken out: most text comes from the log.
func wrapFirst(s string, first, width int) []string {
	width, first = max(width, 8), max(first, 8)
	var lines []string
	line, used := "", 0
	room := func() int {
		if len(lines) == 0 {
			return first
		}
		return width
	}
	flush := func() {
		lines = append(lines, line)
		line, used = "", 0
	}
	for word := range strings.FieldsSeq(printable(s)) {
		n := utf8.RuneCountInString(word)
		if used > 0 && used+1+n > room() {
			flush()
		}
		for n > room() {
			head := clip(word, room())
			lines = append(lines, head)
			word = word[len(head):]
			n = utf8.RuneCountInString(word)
		}
		if used > 0 {
			line += " "
			used++
		}
		line += word
		used += n
	}
	if used > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// clip returns the first n characters of s.
func clip(s string, n int) string {
	count := 0
	for i := range s {
		if count == n {
			return s[:i]
		}
		count++
	}
	return s
}

// printable replaces what a terminal would obey or cannot show: a log is not
// trusted to move our cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
