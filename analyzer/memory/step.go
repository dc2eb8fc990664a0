package memory

import (
	"strconv"
	"strings"
)

// Which step, and which capture, a line is about. Every line with a figure is
// looked at, so this is done by hand and not by regular expressions.

// stepOf returns the step or iteration that the text states.
//
//	[Rank 8] (after 1 iterations) memory (MB) | allocated: 41205.87 | ...
//	step=12 cuda alloc=52.31 GiB reserved=62.50 GiB graphs=6
//	step 64 seq_len= 704 reserved=42110 MB
//	epoch=0/micro_step=100/global_step=50, RunningAvgSamplesPerSec=2.1, ...
//	{"iteration": 20, "memory_reserved": 44341133312}
func stepOf(text string) *int64 {
	if _, behind, ok := strings.Cut(text, "(after "); ok {
		if n, rest := leadingNumber(behind); n != nil && strings.HasPrefix(rest, " iteration") {
			return n
		}
	}
	for _, name := range []string{"step", "iteration", "iter"} {
		for at := indexFold(text, name, 0); at >= 0; at = indexFold(text, name, at+1) {
			if !stepBegins(text[:at]) {
				continue
			}
			if n := counterValue(text[at+len(name):]); n != nil {
				return n
			}
		}
	}
	return nil
}

// stepBegins reports whether a counter's name begins behind the text: it is a word,
// or the last one of global_step. A micro_step is none.
func stepBegins(before string) bool {
	if before == "" || strings.IndexByte(" \t[](){}|,;:\"'/<", before[len(before)-1]) >= 0 {
		return true
	}
	for _, first := range []string{"global", "global_", "train_", "opt_"} {
		if strings.HasSuffix(strings.ToLower(before[max(0, len(before)-len("global_")):]), first) {
			return true
		}
	}
	return false
}

// counterValue reads the whole number behind a counter's name: "=12", " 64 ", `": 20`.
func counterValue(text string) *int64 {
	text = strings.TrimLeft(text, `"'`)
	text = strings.TrimLeft(text, " ")
	if text != "" && strings.IndexByte(":=#", text[0]) >= 0 {
		text = strings.TrimLeft(text[1:], " ")
	}
	n, rest := leadingNumber(strings.TrimPrefix(text, "#"))
	if n == nil || tokenGoesOn(rest) {
		return nil // 12.5, 12th
	}
	return n
}

// graphOf returns the number of the graph that the text is about, or how many
// graphs it counts.
//
//	[graphs] captured signature (4, 3, 320, 320) in 0.76s | reserved 7.8 GiB | graphs held 2
//	graph entry 12/96 layer=06 kind=attn reserved= 36.80 GiB allocated= 31.16 GiB
//	  [graph 3/12] [16] | pool reserved=1.2 gb (Δiter=10.0 mb) pool allocated=0.4 gb (Δiter=2.0 mb)
//	captured graph 3 | reserved 7.8 GiB
//	graphs: captured 512/2048, reserved 71.36GiB
//	step 10 rank 0: alloc 33.14 GiB, reserved 42.20 GiB, cudagraph recordings 3
//	We have observed 51 distinct sizes.
func graphOf(text string) *int64 {
	if n := graphsNamed(text); n != nil {
		return n
	}
	if n := sizesSeen(text); n != nil {
		return n
	}
	if !captured(text) {
		return nil
	}
	if _, behind, ok := strings.Cut(text, "aptured "); ok {
		if n, rest := leadingNumber(behind); n != nil && isTotal(rest) {
			return n
		}
	}
	return barPosition(text)
}

// graphNouns may stand between "graph" and its number.
var graphNouns = []string{"s held", "s", " entry", " recordings", " objects", " count", "_count", ""}

// graphsNamed reads the number behind the word.
func graphsNamed(text string) *int64 {
	for at := indexFold(text, "graph", 0); at >= 0; at = indexFold(text, "graph", at+1) {
		for _, noun := range graphNouns {
			behind, ok := strings.CutPrefix(text[at+len("graph"):], noun)
			if !ok || strings.HasPrefix(behind, "[") {
				continue
			}
			if n := counterValue(behind); n != nil {
				return n
			}
			break
		}
	}
	return nil
}

// isTotal reports whether the text goes on with a total: "/2048".
func isTotal(text string) bool {
	return len(text) > 1 && text[0] == '/' && text[1] >= '0' && text[1] <= '9'
}

// sizesSeen reads the count in torch.compile's warning.
func sizesSeen(text string) *int64 {
	_, behind, ok := strings.Cut(text, "observed ")
	n, rest := leadingNumber(behind)
	if !ok || !strings.HasPrefix(rest, " distinct sizes") {
		return nil
	}
	return n
}

// barPosition reads how many are done of a progress bar, or of Megatron's list.
//
//	create cuda graphs | mem: alloc 1.2 gb, res 3.4 gb:  50%|#####     | 12/24 [00:01<00:01, 11.9it/s]
//	Capturing batches (bs=48 avail_mem=40.33 GB):  17%|#7        | 6/35 [00:05<00:24,  1.17it/s]
//	100/960. create cuda graphs | mem: alloc 40.1 gb, res 61.2 gb
func barPosition(text string) *int64 {
	place := text
	if i := strings.LastIndex(text, "%|"); i >= 0 {
		_, behind, ok := strings.Cut(text[i+len("%|"):], "|")
		if !ok {
			return nil
		}
		place = behind
	} else if !strings.Contains(text, ". create cuda graphs") {
		return nil
	}
	n, rest := leadingNumber(strings.TrimLeft(place, " "))
	if !isTotal(rest) {
		return nil
	}
	return n
}

// captured reports whether the text tells of captures, or counts graphs.
func captured(text string) bool { return tellsOfCapture(text) || graphsNamed(text) != nil }

// tellsOfCapture reports whether the text says so in words.
func tellsOfCapture(text string) bool {
	return strings.Contains(text, "aptur") || strings.Contains(text, "APTUR") || strings.Contains(text, "create cuda graphs") || strings.Contains(text, "distinct sizes")
}

// leadingNumber reads the digits at the start of the text, at most 15 of them.
func leadingNumber(text string) (n *int64, rest string) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i == 0 || i > 15 {
		return nil, text
	}
	v, err := strconv.ParseInt(text[:i], 10, 64)
	if err != nil {
		return nil, text
	}
	return &v, text[i:]
}

// indexFold returns where the word, in lower case, stands in the text from an
// offset on, whatever its case; -1 if it does not.
func indexFold(text, word string, from int) int {
	for i := from; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}
