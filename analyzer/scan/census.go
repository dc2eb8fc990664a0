package scan

import (
	"bytes"
	"unicode"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// census counts the printers of a chunk.
type census struct {
	prefixes *Prefixes
	printers tally
}

func newCensus(layout line.Layout) *census {
	return &census{prefixes: NewPrefixes(layout), printers: tally{index: map[incident.Key]int{}}}
}

// look counts the line whose first bytes are given.
func (s *census) look(c *chunk, head []byte) {
	if i := bytes.IndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	if len(bytes.TrimRight(head, "\r ")) == 0 {
		return
	}
	if origin := s.prefixes.origin(head); origin.Known() {
		s.printers.add(origin, c.newlines)
		return
	}
	c.without++
}

// Prefixes tells who printed a line by how the line starts. It is not safe for
// concurrent use.
type Prefixes struct {
	layout line.Layout
	// known remembers what a prefix said, because most lines of a log start
	// like another line.
	known map[string]incident.Origin
}

// maxKnown bounds the prefixes remembered by one [Prefixes].
const maxKnown = 4096

// NewPrefixes returns the reader of a file's prefixes.
func NewPrefixes(layout line.Layout) *Prefixes {
	return &Prefixes{layout: layout, known: map[string]incident.Origin{}}
}

// Origin is what the first bytes of a line, which is not empty and has no LF, say
// of who printed it.
func (s *Prefixes) Origin(raw []byte) incident.Origin {
	return s.origin(raw[:min(len(raw), prefixLook)])
}

func (s *Prefixes) origin(head []byte) incident.Origin {
	prefix := repeating(head)
	if prefix != nil {
		if o, ok := s.known[string(prefix)]; ok {
			return o
		}
	}
	var o incident.Origin
	for _, p := range line.Decode(head, s.layout) {
		if o = p.Origin; o.Known() {
			break
		}
	}
	if prefix != nil && o.Known() && len(s.known) < maxKnown && s.onlyPrefix(prefix, o) {
		s.known[string(prefix)] = o
	}
	return o
}

// repeating returns the prefix that the line starts with, "[rank3]: " or
// "(Worker_TP2 pid=143) ", with NCCL's behind it if there is one, if what follows can
// be no further prefix ("[rank0]: " stands in front of NCCL's lines as well as of a
// program's own); else nil.
func repeating(head []byte) []byte {
	end := 0
	switch head[0] {
	case '[':
		end = 1
		for end < len(head) && isWord(head[end]) {
			end++
		}
		if !bytes.HasPrefix(head[end:], []byte("]:")) {
			return nil
		}
		end += len("]:")
		if end < len(head) && head[end] == ' ' {
			end++
		}
	case '(':
		end = bytes.Index(head, []byte(") ")) + 2
		if end < 2 {
			return nil
		}
	}
	if n := ncclThread(head[end:]); n > 0 {
		return head[:end+n]
	}
	if end == 0 || !ordinary(head[end:]) {
		return nil
	}
	return head[:end]
}

// ncclThread returns the length of NCCL's prefix, "node-00:41200:41500 [0] NCCL INFO ",
// 0 if the text does not start so. No further prefix stands behind it.
func ncclThread(text []byte) int {
	const longest, info = 120, "] NCCL INFO "
	host := bytes.IndexByte(text, ' ')
	end := bytes.Index(text[:min(len(text), longest)], []byte(info))
	if host < 0 || end < host+2 || text[host+1] != '[' {
		return 0
	}
	for _, c := range text[host+2 : end] {
		if c < '0' || c > '9' {
			return 0
		}
	}
	if bytes.ContainsFunc(text[:host], unicode.IsControl) { // a colour, a bar's rewrite
		return 0
	}
	return end + len(info)
}

// ordinary reports whether a text surely holds no prefix that names a printer:
// behind a time, a level and a source it starts with a word unlike theirs. It may
// be wrong the other way.
func ordinary(text []byte) bool {
	text = skipRecord(text)
	end := bytes.IndexByte(text, ' ')
	if end <= 0 || end+1 == len(text) {
		return false
	}
	for _, c := range text[:end] {
		if c < ' ' || c > '~' {
			return false
		}
	}
	next := text[end+1]
	switch first := text[0]; {
	case first >= 'a' && first <= 'z': // no "host:1:2 [0]", "job/0 [rank5]:", "service-1 | ", "stderr F"
		service := text[end-1] >= '0' && text[end-1] <= '9' && bytes.IndexByte(text[:end], ':') < 0 && bytes.Contains(text[:min(len(text), 64)], []byte(" | "))
		return next != '[' && !isCapital(next) && !service
	case isCapital(first): // no "INFO:", "E1125", "Thu Nov 12"
		return end > 3 && text[1] >= 'a'
	}
	return false
}

// skipRecord returns what follows the time, the level and the source of a log
// record: "2026-11-28 04:13:22,150 INFO ", "ERROR 07-19 02:44:22 [core.py:470] ".
func skipRecord(text []byte) []byte {
	text = skipTime(text)
	level := 0
	for level < len(text) && isCapital(text[level]) {
		level++
	}
	if level < 4 {
		return text
	}
	text = skipTime(text[level:])
	if end := bytes.IndexByte(text, ']'); end > 0 && text[0] == '[' && bytes.Contains(text[:end], []byte(".py:")) {
		text = bytes.TrimLeft(text[end+1:], " ")
	}
	return text
}

// skipTime skips digits and what stands between and behind those of a time.
func skipTime(text []byte) []byte {
	for i, c := range text {
		zone := (c == 'T' || c == 'Z') && i > 0 && text[i-1] >= '0' && text[i-1] <= '9'
		if !zone && (c < '+' || c > ':') && c != '|' && c != ' ' { // + , - . / 0-9 :
			return text[i:]
		}
	}
	return nil
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// onlyPrefix reports whether the prefix alone gives the origin.
func (s *Prefixes) onlyPrefix(prefix []byte, o incident.Origin) bool {
	alone := line.Decode(prefix, s.layout)
	return len(alone) > 0 && alone[0].Origin.Key() == o.Key()
}

// tally counts lines by origin, in order of appearance.
type tally struct {
	index map[incident.Key]int
	list  []chunkSeen
}

func (t *tally) add(o incident.Origin, at int64) {
	k := o.Key()
	i, ok := t.index[k]
	if !ok {
		if len(t.list) >= MaxPrinters {
			return
		}
		i = len(t.list)
		t.index[k] = i
		t.list = append(t.list, chunkSeen{key: k, origin: o, first: at})
	}
	t.list[i].lines++
	t.list[i].last = at
}
