package memory

import (
	"regexp"
	"strings"
)

// What people print themselves: a name, a number and, with luck, a unit.
//
//	[graphs] captured signature (4, 3, 320, 320) in 0.76s | reserved 7.8 GiB | allocated 3.5 GiB | graphs held 2
//	step 64 seq_len= 704 reserved=42110 MB
//	torch.cuda.memory_reserved()=6872367104
//	torch.cuda.memory_reserved()/1e9=6.872367104
//	mem reserved (GB): 12.3
//	[mem] alloc=1.2GB rsv=3.4GB
//	[after compile ] alloc: 61.00341796875, reserved: 98.0, max reserved: 98.0
//	{"step": 20, "memory_reserved_gb": 41.3}
//
// A name is found by its stem; what follows it is read by value.
var value = regexp.MustCompile(`(?i)^` +
	`(?:\([\w:.]*\))?` + // the brackets of a call
	`( (?:memory|mem|bytes))?` +
	`(?: ?/ ?(1e9|1e6|\(?(?:1024 ?\*\* ?[23]|2 ?\*\* ?[23]0|1 ?<< ?[23]0)\)?))?` + // what a call's result is divided by
	`(?: ?[(\[](` + unitName + `)[)\]])?` +
	`["']?\s{0,3}([:=]?)\s{0,8}(` + decimal + `)(?: ?(` + unitName + `)\b)?`)

// Memory: 12.30 GB allocated, 14.00 GB reserved
var behind = regexp.MustCompile(`(?i)(` + decimal + `) ?(` + unitName + `) (allocated|reserved)\b`)

const (
	decimal  = `-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?`
	unitName = `[KMGT]i?B|[KMG]|bytes`
)

// stems are what names of levels are made of; of two that fit, the longer stands first.
var stems = []string{"reserved", "allocated", "alloc", "cached", "resv", "rsvd", "rsv", "res"}

// figure is a name with its value.
type figure struct {
	start, end int    // in the line
	before     string // the text in front of the name
	first      string // the name up to its stem: "torch.cuda.memory_"
	stem       string
	rest       string // the name behind its stem: "_gb"
	noun       string // " memory"
	divisor    string
	bracket    string // a unit in brackets
	sign       string // ":" or "=", or none
	number     string
	unit       string
	after      string   // the text behind the figure
	words      []string // those of the name, and those just in front of it
}

// figuresIn finds the names of levels that a value follows.
func figuresIn(text string) []figure {
	var out []figure
	from := 0 // behind the figure before
	for i := 0; i < len(text); {
		stem := stemAt(text[i:])
		if stem == "" {
			i++
			continue
		}
		p, ok := figureAt(text, from, i, stem)
		if !ok {
			i += len(stem)
			continue
		}
		out = append(out, p)
		i, from = p.end, p.end
	}
	return out
}

func stemAt(text string) string {
	if c := text[0] | 0x20; c != 'r' && c != 'a' && c != 'c' {
		return ""
	}
	for _, s := range stems {
		if len(text) > len(s) && strings.EqualFold(text[:len(s)], s) {
			return s
		}
	}
	return ""
}

// figureAt reads the name around the stem at text[at:], which begins at from or
// behind it, and its value.
func figureAt(text string, from, at int, stem string) (figure, bool) {
	start, end := at, at+len(stem)
	for start > from && (inWord(text[start-1]) || strings.IndexByte("./-", text[start-1]) >= 0) {
		start--
	}
	for end < len(text) && inWord(text[end]) {
		end++
	}
	p := figure{start: start, before: text[:start], first: strings.ToLower(text[start:at]), stem: stem, rest: strings.ToLower(text[at+len(stem) : end])}
	if !p.named() {
		return p, false
	}
	m := value.FindStringSubmatchIndex(text[end:])
	if m == nil {
		return p, false
	}
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[end+m[2*i] : end+m[2*i+1]]
	}
	p.noun, p.divisor, p.bracket, p.sign, p.number, p.unit = group(1), group(2), group(3), group(4), group(5), group(6)
	p.end = end + m[1]
	p.after = text[p.end:]
	p.words = append(wordsBefore(p.before), lettersIn(p.first+" "+p.rest)...)
	return p, true
}

func inWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// metric is what the name stands for.
func (p figure) metric() Metric {
	if strings.HasPrefix(p.stem, "alloc") {
		return Allocated
	}
	return Reserved
}

// handWritten reads the figures of a line that no program's format is. Of a line
// that names both levels more is believed: there the names explain each other.
func handWritten(_ *Reader, f *figures) bool {
	if settings(f.text) {
		return false
	}
	var figures []figure
	other := "" // up to here the figures are of other memory
	for _, p := range figuresIn(f.text) {
		if p.elsewhere() {
			other = f.text[:p.end]
			continue
		}
		if other != "" && !p.ofGPU() && !strings.ContainsAny(p.before[len(other):], "|;") {
			continue // host: allocated 3 GiB, reserved 4 GiB
		}
		if p.isLevel() && p.stated() && !quotedWhole(p.before, f.text[p.start:p.end]) {
			figures = append(figures, p)
		}
	}
	both := bothLevels(figures)
	for _, p := range figures {
		p.addTo(f, both)
	}
	if len(f.found) == 0 {
		unitFirst(f)
	}
	return len(f.found) > 0
}

func bothLevels(figures []figure) bool {
	seen := map[Metric]bool{}
	for _, p := range figures {
		seen[p.metric()] = true
	}
	return len(seen) > 1
}

// addTo adds the figure if its name, its unit and its neighbour leave no doubt
// about what it is.
func (p figure) addTo(f *figures, both bool) {
	unit, scaled := p.scale()
	gpu := p.ofGPU()
	switch p.stem {
	case "res", "resv", "rsv", "rsvd": // "res 512" is a resolution
		if !both || !scaled && p.sign == "" {
			return
		}
	case "cached":
		if !gpu && !both {
			return
		}
	}
	switch {
	case scaled:
		f.scaled(p.metric(), p.number, unit.name, unit.bytes)
	case p.sign != "" && (gpu || both), p.metric() == Reserved && wholeSegments(p.number):
		f.bare(p.metric(), p.number)
	case gpu && len(plain(p.number)) > 6: // "memory_reserved 6872367104"
		f.bare(p.metric(), p.number)
	}
}

// wholeSegments reports whether a number without a unit can only be what the
// allocator reserved: it does so in multiples of 2 MiB.
func wholeSegments(number string) bool {
	n := intOf(plain(number))
	return n != nil && *n > 0 && *n%(2*MiB) == 0
}

// unitFirst reads figures that stand in front of their names, where both levels do.
func unitFirst(f *figures) {
	if indexFold(f.text, "b reserved", 0) < 0 || indexFold(f.text, "b allocated", 0) < 0 {
		return
	}
	var figures []figure
	for _, at := range behind.FindAllStringSubmatchIndex(f.text, -1) {
		p := figure{
			before: f.text[:at[0]], stem: strings.ToLower(f.text[at[6]:at[7]]), sign: ":",
			number: f.text[at[2]:at[3]], unit: f.text[at[4]:at[5]], after: f.text[at[1]:], words: wordsBefore(f.text[:at[0]]),
		}
		if !p.elsewhere() && p.stated() && closes(p.after) {
			figures = append(figures, p)
		}
	}
	if !bothLevels(figures) {
		return
	}
	for _, p := range figures {
		p.addTo(f, true)
	}
}
