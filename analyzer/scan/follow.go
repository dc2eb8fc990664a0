package scan

import (
	"context"
	"io"
	"sync"

	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Kept is what is kept of a file that was scanned: its chunks, but those at the end,
// of which more text would have shown more. Its size is that of what they hold.
type Kept struct {
	finder *finder
	layout line.Layout
	size   int // of a chunk
	chunks []*chunk
}

// Follow is [Scanner.Scan], which it never differs from, for a file that was
// scanned before and has since changed behind its first same bytes: what was kept
// then is not scanned again. earlier is nil for the first time. It returns what to
// keep for the next time.
func (s *Scanner) Follow(ctx context.Context, data io.ReaderAt, size int64, earlier *Kept, same int64) (*Result, *Kept, error) {
	var layout line.Layout
	var err error
	if earlier != nil && same >= line.DetectBytes {
		layout = earlier.layout
	} else if layout, err = detect(data, size); err != nil {
		return nil, nil, err
	}
	var known []*chunk
	if earlier != nil && earlier.finder == s.finder && earlier.layout == layout && earlier.size == s.Chunk {
		known = earlier.chunks[:min(len(earlier.chunks), s.whole(same))]
	}
	kept := &Kept{finder: s.finder, layout: layout, size: s.Chunk, chunks: make([]*chunk, s.whole(size))}
	copy(kept.chunks, known)
	var mu sync.Mutex
	result, err := s.scan(ctx, data, size, layout, known, func(i int, c *chunk) {
		mu.Lock()
		defer mu.Unlock()
		if i < len(kept.chunks) {
			kept.chunks[i] = c
		}
	})
	if err != nil {
		return nil, nil, err
	}
	for i, c := range kept.chunks { // the file was cut while it was read
		if c == nil {
			kept.chunks = kept.chunks[:i]
			break
		}
	}
	return result, kept, nil
}

// whole is how many chunks, with all that is looked at for them, lie in so many bytes.
func (s *Scanner) whole(size int64) int {
	return int(max(0, size-int64(s.overlap())) / int64(s.Chunk))
}
