package memory

import (
	"regexp"
	"slices"
	"strings"
)

// What tells a printed figure from prose, advice, settings and figures of other
// memory than the card's.

// peaks and counts in front of "reserved" make it no level of the moment.
var notLevels = []string{
	"max", "peak", "min", "total", "sum", "avg", "mean", "delta", "diff", "change", "num", "n", "count", "limit", "budget", "expected", "target", "could", "un", "pre",
}

// elsewhere is memory that is not the card's, or is kept by something else than
// PyTorch's allocator.
var elsewhere = []string{
	"host", "cpu", "ram", "dram", "pinned", "disk", "swap", "shm", "shared", "tmpfs", "kv", "cache", "cgroup", "heap", "jvm", "store", "object_store",
	"block", "blocks", "page", "pages", "slot", "slots", "token", "tokens", "quota",
}

// cardWords say that a name is about a card's memory.
var cardWords = []string{"memory", "mem", "cuda", "gpu", "vram"}

// telling are the words in front of "reserved" in a sentence about it.
var telling = []string{
	"has", "have", "had", "we", "it", "is", "are", "was", "were", "be", "been", "to", "the", "a", "an", "already", "which", "that", "if", "when", "once", "will", "would", "must",
	"pytorch", "torch", "driver", "allocator", "process", "server", "engine", "vllm", "sglang", "you", "they", "i", "not", "only", "of",
}

// goingOn are the words behind a figure in a sentence about it.
var goingOn = []string{
	"of", "for", "to", "by", "from", "is", "are", "was", "were", "will", "would", "in", "on", "because", "while", "or", "per", "since", "than", "with", "exceeds", "and", "but", "so", "until",
}

var (
	nextWord  = regexp.MustCompile(`^\s{1,3}([A-Za-z]+)`)
	nextPair  = regexp.MustCompile(`^\s{1,4}[\w./-]+(?:\(\))?["']?\s{0,3}[:=]?\s{0,6}["']?-?[\d.]`)
	nextPlace = regexp.MustCompile(`^\s{1,3}(?:after|before|at|during) (?:the )?(?:step|iter|capture|graph|epoch|warm|forward|backward|replay)`)
)

// dumps are in printed configurations, advice in sentences of advice.
var (
	dumps  = []string{"=True", "=False", "=None", ": True", ": False", ": None", "Namespace(", "Args(", "Config(", "export ", "set -x"}
	advice = []string{"e.g.", "i.e.", "If reserved", "try setting"}
)

// settings reports whether the text is a printed configuration or advice.
//
//	ServerArgs(model_path='m', reserved_gb=3.5, disable_cuda_graph=False)
//	If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.
func settings(text string) bool {
	if holdsAny(text, advice) {
		return true
	}
	record := text != "" && (text[0] == '{' || text[0] == '[') // of metrics: it may hold a flag as well
	return !record && holdsAny(text, dumps)
}

// named reports whether the stem is the name's, and no part of another word.
func (p figure) named() bool {
	if p.first != "" && strings.IndexByte("_./-", p.first[len(p.first)-1]) < 0 {
		return false // unallocated, address
	}
	if strings.HasPrefix(p.first, "-") || strings.HasPrefix(p.first, "/") {
		return false // a flag, a path
	}
	for _, part := range strings.FieldsFunc(p.rest, func(r rune) bool { return r == '_' }) {
		if _, unit := units[part]; !unit && !slices.Contains(cardWords, part) && part != "current" && part != "now" {
			return false // reserved_tokens, allocator, reserved_ratio
		}
	}
	return true
}

// isLevel reports whether the name is that of a level, and of no peak or count.
func (p figure) isLevel() bool {
	return !slices.ContainsFunc(p.words, func(w string) bool { return slices.Contains(notLevels, w) })
}

// stated reports whether the words around the figure state it, and do not talk
// about it.
func (p figure) stated() bool {
	if strings.HasPrefix(p.after, "%") || strings.HasPrefix(p.after, " %") || tokenGoesOn(p.after) {
		return false
	}
	if m := nextWord.FindStringSubmatch(p.after); m != nil && slices.Contains(elsewhere, strings.ToLower(m[1])) {
		return false // reserved: 12 GB host, allocated: 4 blocks
	}
	if p.noun != "" && p.sign == "" {
		return false // of the allocated memory 46.90 GiB is ...
	}
	if p.sign != "" {
		m := nextWord.FindStringSubmatch(p.after)
		return m == nil || !slices.Contains([]string{"of", "for", "per"}, strings.ToLower(m[1]))
	}
	front := wordsBefore(p.before)
	return (len(front) == 0 || !slices.Contains(telling, front[len(front)-1])) && closes(p.after)
}

// closes reports whether a figure's statement ends behind it, or goes on with the
// next figure.
func closes(after string) bool {
	rest := strings.TrimLeft(after, " \t")
	if rest == "" || strings.IndexByte("|,;)]}/(+\"", rest[0]) >= 0 || strings.HasPrefix(after, "  ") {
		return true
	}
	if nextPlace.MatchString(after) {
		return true
	}
	if m := nextWord.FindStringSubmatch(after); m != nil && slices.Contains(goingOn, strings.ToLower(m[1])) {
		return false
	}
	return nextPair.MatchString(after)
}

// tokenGoesOn reports whether the number was only the start of something longer:
// 6.4e+09, 12.3.4, 512x512.
func tokenGoesOn(after string) bool {
	if after == "" {
		return false
	}
	c := after[0]
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' && len(after) > 1 && after[1] >= '0' && after[1] <= '9'
}

// elsewhere reports whether the name, or a word just in front of it, is that of
// other memory than the card's.
func (p figure) elsewhere() bool {
	return slices.ContainsFunc(p.words, func(w string) bool { return slices.Contains(elsewhere, w) })
}

// ofGPU reports whether the name, or a word just in front of it, says that it is
// about a card's memory.
func (p figure) ofGPU() bool {
	return strings.TrimSpace(p.noun) != "" || slices.ContainsFunc(p.words, func(w string) bool { return slices.Contains(cardWords, w) })
}

// wordsBefore returns the words at the end of the text, up to a number, a
// separator or the third one.
//
//	step 12 | max memory reserved: 12 GiB
func wordsBefore(text string) []string {
	const enough = 3
	text = text[strings.LastIndexAny(text, "|,;")+1:]
	tokens := strings.Fields(text[max(0, len(text)-64):])
	from := len(tokens)
	for from > 0 && len(tokens)-from < enough && !strings.ContainsAny(tokens[from-1], "0123456789") {
		from--
	}
	return lettersIn(strings.ToLower(strings.Join(tokens[from:], " ")))
}

// lettersIn splits a text in lower case into its words.
func lettersIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
}

// quotedWhole reports whether name and figure stand within quotes, as in a command
// or in source code. The quotes of a JSON key end before its figure.
//
//	grep -n 'reserved 6.4 GiB' train.log
func quotedWhole(before, whole string) bool {
	for _, q := range []string{`"`, "`", "'"} {
		if strings.Contains(whole, q) || strings.Count(before, q)%2 == 0 {
			continue
		}
		if open := before[:strings.LastIndex(before, q)]; strings.HasSuffix(open, "msg=") || strings.HasSuffix(open, "message=") {
			continue // a logger's field
		}
		return true
	}
	return false
}

// measure is what a printed number counts.
type measure struct {
	name  string
	bytes float64
}

// scale returns what the figure's number counts, by the unit behind it, in
// brackets, in its name, or by what the call was divided by.
func (p figure) scale() (measure, bool) {
	for _, name := range []string{p.unit, p.bracket, p.unitInName()} {
		if m, ok := measureOf(name); ok {
			return m, true
		}
	}
	return divided(p.divisor)
}

func (p figure) unitInName() string {
	for _, part := range strings.Split(p.rest, "_") {
		if _, ok := units[part]; ok && part != "b" {
			return part
		}
	}
	return ""
}

func measureOf(name string) (measure, bool) {
	name = strings.ToLower(name)
	short := map[string]float64{"k": KiB, "m": MiB, "g": GiB}
	if n, ok := short[name]; ok {
		return measure{name, n}, true
	}
	n, ok := units[name]
	return measure{name, n}, ok
}

// divided is the unit of a quotient: torch.cuda.memory_reserved()/1e9=6.872367104
func divided(by string) (measure, bool) {
	switch strings.Trim(strings.ReplaceAll(by, " ", ""), "()") {
	case "1e9":
		return measure{"1e9 bytes", 1e9}, true
	case "1e6":
		return measure{"1e6 bytes", 1e6}, true
	case "1024**3", "2**30", "1<<30":
		return measure{"gib", GiB}, true
	case "1024**2", "2**20", "1<<20":
		return measure{"mib", MiB}, true
	}
	return measure{}, false
}
