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
	// The prefix that repeats ends at "]:" or ") "; lines without either are
	// decoded each time.
	prefix := head[:0]
	if i := bytes.Index(head, []byte("]:")); i > 0 {
		prefix = head[:min(len(head), i+3)]
	} else if i := bytes.Index(head, []byte(") ")); i > 0 && head[0] == '(' {
		prefix = head[:i+2]
	}
	// A second prefix may follow the first ("[default3]:[rank3]:"), so only
	// what stands in front of ordinary text is remembered.
	cacheable := len(prefix) > 0 && !layout.TaskLabel && len(prefix) < len(head) && head[len(prefix)] != '[' && prefix[len(prefix)-1] != '['
	if cacheable {
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
	if cacheable && len(s.known) < maxKnown && onlyPrefix(prefix, o) {
		s.known[string(prefix)] = o
	}
	return o
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
