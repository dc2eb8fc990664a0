// Package scan is the only stage that sees every byte. In one pass over a file,
// parallel over chunks, it finds the lines that can matter (they hold an anchor
// of some message) and takes a cheap look at the prefix of every line: who
// printed, how many lines, and which was the last.
//
// The result does not depend on the chunk size or on the number of workers.
package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Bounds of a scan.
const (
	// DefaultChunk is how many bytes one worker takes at a time.
	DefaultChunk = 1 << 20
	// prefixLook is how many bytes of each line are decoded to see who printed it.
	prefixLook = 192
	// MaxVital bounds the lines kept that may tell of a failure: of more, the
	// first and the last are kept, and the result says so.
	MaxVital = 1 << 20
	// MaxOrdinary bounds the lines kept of those that come in any number, such as
	// memory reports: of more, an even sample is kept.
	MaxOrdinary = 1 << 16
	// MaxPrinters bounds the different origins counted.
	MaxPrinters = 1 << 14
)

// Anchors are the texts that lines are found by.
type Anchors struct {
	// Vital texts stand in lines that may tell of a failure or of who is who.
	Vital []string
	// Ordinary texts stand in lines that healthy logs are full of.
	Ordinary []string
}

// Hit is a line that holds an anchor.
type Hit struct {
	// Line counts LF from 1; Offset is where the line starts.
	Line   int64
	Offset int64
}

// Seen counts the lines of one printer.
type Seen struct {
	Origin      incident.Origin
	Lines       int64
	First, Last int64 // line numbers
}

// Result is what one pass over a file found.
type Result struct {
	Hits []Hit
	// Lines is the number of lines, a last one without LF included.
	Lines int64
	// Printers are the origins of the lines' prefixes, in order of appearance.
	Printers []Seen
	// WithoutOrigin counts lines that are not empty and do not say who printed them.
	WithoutOrigin int64
	Layout        line.Layout
	// Cut says which bound was hit; empty if none.
	Cut []string
}

// Scanner finds the lines that hold one of its anchors. It is safe for
// concurrent use.
type Scanner struct {
	finder *finder
	// Chunk and Workers are for tests and tuning; they never change the result.
	Chunk   int
	Workers int
	// Scanned, if set, is told after each chunk how many bytes of data it covers,
	// by the workers, several at a time. It never changes the result.
	Scanned func(bytes int64)
}

// New returns a scanner for the anchors; those shorter than five bytes are ignored.
func New(anchors Anchors) *Scanner {
	return &Scanner{finder: newFinder(anchors), Chunk: DefaultChunk, Workers: runtime.GOMAXPROCS(0)}
}

// Scan reads size bytes of data. It fails if data cannot be read or ctx is done.
func (s *Scanner) Scan(ctx context.Context, data io.ReaderAt, size int64) (*Result, error) {
	layout, err := detect(data, size)
	if err != nil {
		return nil, err
	}
	return s.scan(ctx, data, size, layout, nil, func(int, *chunk) {})
}

// scan scans all chunks but the first ones, which are known, and hands over each.
func (s *Scanner) scan(ctx context.Context, data io.ReaderAt, size int64, layout line.Layout, known []*chunk, done func(int, *chunk)) (*Result, error) {
	count := int((size + int64(s.Chunk) - 1) / int64(s.Chunk))
	m := merger{layout: layout, printers: map[incident.Key]int{}, pending: map[int]*chunk{}}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(max(1, s.Workers))
	buffers := sync.Pool{New: func() any { b := make([]byte, min(int64(1+s.Chunk+s.overlap()), size)); return &b }}
	for i, c := range known {
		m.add(i, c)
		if s.Scanned != nil {
			s.Scanned(int64(s.Chunk))
		}
	}
	for i := len(known); i < count; i++ {
		if running.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			buf := buffers.Get().(*[]byte)
			defer buffers.Put(buf)
			start := int64(i) * int64(s.Chunk)
			// One byte more in front tells whether the chunk starts a line.
			lead := min(1, i)
			from := start - int64(lead)
			want := int(min(int64(lead+s.Chunk+s.overlap()), size-from))
			n, err := readAt(data, (*buf)[:want], from)
			if n < want && err != io.EOF {
				return fmt.Errorf("reading bytes %d to %d: %w", from, from+int64(want), err)
			}
			if s.Scanned != nil {
				defer s.Scanned(min(int64(s.Chunk), size-start))
			}
			if n <= lead { // the file was cut while it was read
				m.add(i, &chunk{lastStart: -1})
				return nil
			}
			c := s.chunk((*buf)[lead:n], layout, start, lead == 0 || (*buf)[0] == '\n')
			done(i, c)
			m.add(i, c)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.result(size), nil
}

// readAt fills b with the bytes from offset on, though data may give less at a
// time. The error says why it gave no more.
func readAt(data io.ReaderAt, b []byte, offset int64) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = data.ReadAt(b[n:], offset+int64(n))
		n += m
		if m == 0 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// detect reads the start of the file for its layout.
func detect(data io.ReaderAt, size int64) (line.Layout, error) {
	head := make([]byte, min(size, line.DetectBytes))
	n, err := readAt(data, head, 0)
	if n < len(head) && err != io.EOF {
		return line.Layout{}, fmt.Errorf("reading its first %d bytes: %w", len(head), err)
	}
	return line.Detect(head[:n]), nil
}

func (s *Scanner) overlap() int { return max(s.finder.longest, prefixLook) }

// chunk is what one stretch of the file holds. Line numbers and the starts of
// lines that began earlier are filled in when chunks are merged in order.
type chunk struct {
	newlines int64
	// lastStart is the offset of the last line that starts here, -1 if none does.
	lastStart int64
	hits      []chunkHit
	printers  []chunkSeen
	without   int64 // lines that are not empty and do not say who printed them
	endsInLF  bool
}

// found is an anchor in a chunk.
type found struct {
	offset int
	vital  bool
}

type chunkHit struct {
	newlines int64 // LF between the chunk's start and the hit's line
	start    int64 // -1: the line starts in an earlier chunk
	vital    bool
}

type chunkSeen struct {
	key         incident.Key
	origin      incident.Origin
	lines       int64
	first, last int64 // LF between the chunk's start and the line
}

// chunk looks at the lines that start, and the anchors that begin, in the first
// Chunk bytes of b, which starts at offset base of the file; startsLine tells
// that a line starts there.
func (s *Scanner) chunk(b []byte, layout line.Layout, base int64, startsLine bool) *chunk {
	limit := min(len(b), s.Chunk)
	c := &chunk{lastStart: -1, endsInLF: limit > 0 && b[limit-1] == '\n'}
	var anchors []found
	s.finder.find(b, limit, func(offset int, vital bool) { anchors = append(anchors, found{offset, vital}) })
	slices.SortFunc(anchors, func(a, b found) int { return a.offset - b.offset })

	census := newCensus(layout)
	start := -1 // of the current line, -1 while it is one that began earlier
	if startsLine {
		start = 0
	}
	for pos := 0; pos < limit; {
		end := limit
		if i := bytes.IndexByte(b[pos:limit], '\n'); i >= 0 {
			end = pos + i
		}
		if start >= 0 && start < limit {
			c.lastStart = base + int64(start)
			census.look(c, b[start:min(len(b), start+prefixLook)])
		}
		for ; len(anchors) > 0 && anchors[0].offset < end; anchors = anchors[1:] {
			at := int64(-1)
			if start >= 0 {
				at = base + int64(start)
			}
			c.addHit(chunkHit{newlines: c.newlines, start: at, vital: anchors[0].vital})
		}
		if end < limit {
			c.newlines++
		}
		pos, start = end+1, end+1
	}
	c.printers = census.printers.list
	return c
}

func (c *chunk) addHit(h chunkHit) {
	if n := len(c.hits); n > 0 && c.hits[n-1].newlines == h.newlines {
		c.hits[n-1].vital = c.hits[n-1].vital || h.vital
		return
	}
	c.hits = append(c.hits, h)
}
