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

// ordinary reports whether a text surely starts with no prefix: its first word
// is not made as those of prefixes are. It may be wrong the other way.
func ordinary(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if text[0] == ' ' {
		return len(text) > 1 && text[1] != '['
	}
	n := 0
	for n < len(text) && text[n] != ' ' {
		if c := text[n]; c < ' ' || c >= 0x7f || c >= '0' && c <= '9' {
			return false
		}
		n++
	}
	switch c := text[0]; {
	case c >= 'a' && c <= 'z':
		return true
	case c >= 'A' && c <= 'Z': // neither "INFO", "WARNING" nor "Thu"
		return n > 3 && text[1] >= 'a'
	}
	return false
}

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
