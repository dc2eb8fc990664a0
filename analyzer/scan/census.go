package scan

import (
	"bytes"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// key is an origin in comparable form; -1 stands for an unknown number.
type key struct {
	rank, local, pid int
	host, process    string
}

func keyOf(o incident.Origin) key {
	number := func(p *int) int {
		if p == nil {
			return -1
		}
		return *p
	}
	return key{number(o.Rank), number(o.LocalRank), number(o.PID), o.Host, o.Process}
}

// census counts the printers of a chunk, once with and once without task
// labels: whether "3: " is a label is known only when the whole file was seen.
type census struct {
	printers, tasks tally
	// known remembers what a prefix said, because most lines of a log start
	// like another line.
	known map[string]incident.Origin
}

func newCensus() *census {
	return &census{
		printers: tally{index: map[key]int{}},
		tasks:    tally{index: map[key]int{}},
		known:    map[string]incident.Origin{},
	}
}

// maxKnown bounds the prefixes remembered in one chunk.
const maxKnown = 4096

// look counts the line whose first bytes are given.
func (s *census) look(c *chunk, head []byte) {
	if i := bytes.IndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	if len(bytes.TrimRight(head, "\r ")) == 0 {
		return
	}
	c.filled++
	origin := s.origin(head, line.Layout{})
	if line.TaskLabel(head) {
		c.labelled++
		s.tasks.add(s.origin(head, line.Layout{TaskLabel: true}), c.newlines)
	} else if origin.Known() {
		s.tasks.add(origin, c.newlines)
	}
	if origin.Known() {
		s.printers.add(origin, c.newlines)
		return
	}
	c.without++
	if line.TaskLabel(head) {
		c.taskOnly++
	}
}

func (s *census) origin(head []byte, layout line.Layout) incident.Origin {
	prefix := repeating(head)
	if layout.TaskLabel {
		prefix = nil
	}
	if prefix != nil {
		if o, ok := s.known[string(prefix)]; ok {
			return o
		}
	}
	var o incident.Origin
	for _, p := range line.Decode(head, layout) {
		if o = p.Origin; o.Known() {
			break
		}
	}
	if prefix != nil && o.Known() && len(s.known) < maxKnown && onlyPrefix(prefix, o) {
		s.known[string(prefix)] = o
	}
	return o
}

// repeating returns the prefix that the line starts with, "[rank3]: " or
// "(Worker_TP2 pid=143) ", if what follows can be no further prefix; else nil.
func repeating(head []byte) []byte {
	var end int
	switch head[0] {
	case '[':
		end = 1
		for end < len(head) && isWord(head[end]) {
			end++
		}
		if !bytes.HasPrefix(head[end:], []byte("]:")) {
			return nil
		}
		end = min(end+3, len(head))
	case '(':
		end = bytes.Index(head, []byte(") ")) + 2
		if end < 2 {
			return nil
		}
	default:
		return nil
	}
	if !ordinary(head[end:]) {
		return nil
	}
	return head[:end]
}

// ordinary reports whether a text surely holds no prefix that names a printer:
// behind a time, a level and a source it starts with a word unlike theirs. It may
// be wrong the other way.
func ordinary(text []byte) bool {
	text = skipRecord(text)
	word, rest, _ := bytes.Cut(text, []byte(" "))
	if len(word) == 0 || len(rest) == 0 || bytes.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' }) {
		return false
	}
	switch c := word[0]; {
	case c >= 'a' && c <= 'z': // no "host:1:2 [0]", "job/0 [rank5]:", "service-1 | ", "stderr F"
		return rest[0] != '[' && rest[0] != '|' && !isCapital(rest[0]) && !bytes.Contains(text[:min(len(text), 64)], []byte(" | "))
	case isCapital(c): // no "INFO:", "E1125", "Thu Nov 12"
		return len(word) > 3 && word[1] >= 'a'
	}
	return false
}

// skipRecord returns what follows the time, the level and the source of a log
// record: "2026-11-28 04:13:22,150 INFO ", "ERROR 07-19 02:44:22 [core.py:470] ".
func skipRecord(text []byte) []byte {
	const time = "0123456789-:.,TZ/+| "
	text = bytes.TrimLeft(text, time)
	level := 0
	for level < len(text) && isCapital(text[level]) {
		level++
	}
	if level < 4 {
		return text
	}
	text = bytes.TrimLeft(text[level:], time)
	if end := bytes.IndexByte(text, ']'); end > 0 && text[0] == '[' && bytes.Contains(text[:end], []byte(".py:")) {
		text = bytes.TrimLeft(text[end+1:], " ")
	}
	return text
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// onlyPrefix reports whether the prefix alone gives the origin.
func onlyPrefix(prefix []byte, o incident.Origin) bool {
	alone := line.Decode(prefix, line.Layout{})
	return len(alone) > 0 && keyOf(alone[0].Origin) == keyOf(o)
}

// tally counts lines by origin, in order of appearance.
type tally struct {
	index map[key]int
	list  []chunkSeen
}

func (t *tally) add(o incident.Origin, at int64) {
	k := keyOf(o)
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
