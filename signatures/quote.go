package signatures

import (
	"regexp"
	"strings"
)

var (
	// carrier is what stands before the quote of a program that passes on a
	// message: the representation of an exception, a wrapper, a structured log.
	carrier = regexp.MustCompile(`(?:Error|Exception|Warning)(?:: ?)?\(?$|with error $|\b(?:msg|message|log|err|error|exception|what|detail)["']?\s*[=:]\s*$`)
	// code is how a line of source code begins.
	code = regexp.MustCompile(`^\s*(?:raise|assert|if|elif|except|throw|print|logger|logging|warnings|TORCH_CHECK|TORCH_INTERNAL_ASSERT)\b`)
)

// quoted says whether the text at start only mentions a message: it stands in
// quotes that are not those of a program that passes it on, or in source code.
//
//	If you see "NVRM: Xid", look at the card.
//	grep -c 'Killed process' /var/log/kern.log
//	    raise ValueError("No available memory for the cache blocks.")
func quoted(text string, start int) bool {
	for start < len(text) && strings.IndexByte(" \t:)](\"'", text[start]) >= 0 {
		start++ // a pattern may take in what stands before the message
	}
	open := openQuote(text[:start])
	if open < 0 {
		return false
	}
	return code.MatchString(text) || !carrier.MatchString(strings.TrimRight(text[:open], "bfru"))
}

// beginsWord says whether a quote behind the text begins a word; it may have the
// letter of a Python string.
func beginsWord(text string) bool {
	if n := len(text); n > 1 && strings.IndexByte("bfru", text[n-1]) >= 0 {
		text = text[:n-1]
	}
	return text == "" || strings.IndexByte(" \t([{,=:", text[len(text)-1]) >= 0
}

// openQuote returns the place of the quote that is open at the end of a text,
// or -1. A single quote opens only where a word begins and closes only where
// one ends, so that apostrophes do not count.
func openQuote(text string) int {
	open := -1
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\':
			i++
		case c != '"' && c != '\'' && c != '`':
		case open < 0 && (c != '\'' || beginsWord(text[:i])):
			open = i
		case open >= 0 && c == text[open] && (c != '\'' || i+1 == len(text) || strings.IndexByte(" \t)]},.:;", text[i+1]) >= 0):
			open = -1
		case open >= 0 && text[open] == '`' && c == '\'': // `name' is quoted so
			open = -1
		}
	}
	return open
}
