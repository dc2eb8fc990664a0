package scan

import (
	"fmt"
	"sync"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// merger joins chunks in the order of the file, in whatever order they come.
type merger struct {
	mu      sync.Mutex
	pending map[int]*chunk
	next    int

	newlines  int64
	lastStart int64
	endsInLF  bool
	hits      sieve

	printers map[incident.Key]int
	printed  []Seen

	layout  line.Layout
	without int64
}

func (m *merger) add(i int, c *chunk) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending[i] = c
	for {
		c, ok := m.pending[m.next]
		if !ok {
			return
		}
		delete(m.pending, m.next)
		m.next++
		m.join(c)
	}
}

func (m *merger) join(c *chunk) {
	for _, h := range c.hits {
		hit := Hit{Line: m.newlines + h.newlines + 1, Offset: h.start}
		if h.start < 0 {
			hit.Offset = m.lastStart
		}
		m.hits.add(hit, h.vital)
	}
	m.printed = merge(m.printers, m.printed, c.printers, m.newlines)
	m.newlines += c.newlines
	if c.lastStart >= 0 {
		m.lastStart = c.lastStart
	}
	m.endsInLF = c.endsInLF
	m.without += c.without
}

func merge(index map[incident.Key]int, all []Seen, add []chunkSeen, base int64) []Seen {
	for _, s := range add {
		i, ok := index[s.key]
		if !ok {
			if len(all) >= MaxPrinters {
				continue
			}
			i = len(all)
			index[s.key] = i
			all = append(all, Seen{Origin: s.origin, First: base + s.first + 1})
		}
		all[i].Lines += s.lines
		all[i].Last = base + s.last + 1
	}
	return all
}

func (m *merger) result(size int64) *Result {
	r := &Result{Lines: m.newlines, Printers: m.printed, WithoutOrigin: m.without, Layout: m.layout}
	if size > 0 && !m.endsInLF {
		r.Lines++
	}
	r.Hits, r.Cut = m.hits.result()
	if len(r.Printers) >= MaxPrinters {
		r.Cut = append(r.Cut, fmt.Sprintf("only the first %d printers were counted", MaxPrinters))
	}
	return r
}
