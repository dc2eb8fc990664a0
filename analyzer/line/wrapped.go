package line

import (
	"bytes"
	"unicode/utf8"
)

// A terminal or a forum cuts long lines at its width, and what is copied from there
// keeps the cuts:
//
//	[rank3]:[E709 09:25:12.604418207 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 3] ProcessGroupNCCL's
//	watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. This typically indicate
//	s a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog, and could be triggered by another thread holdin

const (
	// narrowest and widest are the widths that are taken for a window's.
	narrowest, widest = 60, 250
	// minCuts is how many lines of the width must end within a word.
	minCuts = 3
)

// cutWidth returns the width at which the lines of a file were cut, in characters, or
// 0: several lines of that length end within a word, more than end otherwise or are
// longer.
func cutWidth(head []byte) int {
	var cuts, whole, lines [widest + 2]int // by width; the last one is for all that are wider
	var before []byte
	for raw := range bytes.Lines(head) {
		raw = bytes.TrimRight(raw, "\r\n")
		width := min(chars(before), widest+1)
		lines[width]++
		switch {
		case withinWord(before, raw):
			cuts[width]++
		case !Continues(before, raw):
			whole[width]++
		}
		before = raw
	}
	best, longer := 0, lines[widest+1]
	for width := widest; width >= narrowest; width-- {
		if cuts[width] >= minCuts && cuts[width] > cuts[best] && whole[width] <= cuts[width] && longer <= cuts[width] {
			best = width
		}
		longer += lines[width]
	}
	return best
}

// withinWord reports whether a word goes on in the next line. Lines that begin alike
// are of one kind and only happen to be equally long.
func withinWord(before, next []byte) bool {
	if len(next) == 0 || len(before) < 4 || bytes.HasPrefix(next, before[:4]) {
		return false
	}
	return isLower(before[len(before)-1]) && isLower(next[0]) && Continues(before, next)
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// GoesOn reports whether next may be the rest of a line that was cut behind before.
func (l Layout) GoesOn(before, next []byte) bool {
	width := chars(before)
	switch {
	case l.Width == 0 || !Continues(before, next):
		return false
	case l.Words:
		word := leadingWord(next)
		return word > 0 && width <= l.Width && width+word > l.Width
	}
	return width == l.Width
}

// Continues reports whether next may be the rest of a line that was cut: it is not
// empty, and does not begin like a record or a part of a traceback of its own.
func Continues(before, next []byte) bool {
	if len(next) == 0 || len(before) > MaxText {
		return false
	}
	for _, begins := range []string{"Traceback (most", "  File \"", "    "} {
		if bytes.HasPrefix(next, []byte(begins)) {
			return false
		}
	}
	text, _ := strip(next, 0)
	p := Piece{Text: text}
	return peelOne(&p, text) == 0
}

// chars counts the characters of a raw line without its line break.
func chars(raw []byte) int { return utf8.RuneCount(bytes.TrimRight(raw, "\r\n")) }

// Other windows, and forms that people paste into, break lines between words, and the
// blank stays with the rest:
//
//	W0520 17:31:10.220000 8814 torch/distributed/elastic/multiprocessing/api.py:897] Sending process
//	 8880 closing signal SIGTERM

// wordWidth returns the width at which the lines of a file were broken so, or 0: the
// rests of several lines begin with a word that would have gone beyond it, and hardly
// any other line with a single blank, and few lines are longer.
func wordWidth(head []byte) int {
	var breaks, lines [widest + 2]int // by width; the last one is for all that are wider
	rests := 0
	var before []byte
	for raw := range bytes.Lines(head) {
		raw = bytes.TrimRight(raw, "\r\n")
		width := min(chars(before), widest+1)
		lines[width]++
		heads := bytes.HasSuffix(before, []byte(":")) // a list whose items are indented
		if word := leadingWord(raw); word > 0 && width >= narrowest && !heads && leadingWord(before) == 0 && Continues(before, raw) {
			rests++
			for w := width; w < min(width+word, widest+1); w++ {
				breaks[w]++
			}
		}
		before = raw
	}
	best, longer := 0, lines[widest+1]
	for width := widest; width >= narrowest; width-- {
		if breaks[width] >= minCuts && breaks[width] > breaks[best] && 2*breaks[width] > rests && longer <= breaks[width] {
			best = width
		}
		longer += lines[width]
	}
	return best
}

// leadingWord returns the length of the first word of a line and of the one blank in
// front of it, in characters; 0 if the line does not begin so.
func leadingWord(raw []byte) int {
	if len(raw) < 2 || raw[0] != ' ' || raw[1] == ' ' {
		return 0
	}
	word, _, _ := bytes.Cut(raw[1:], []byte(" "))
	return 1 + chars(word)
}
