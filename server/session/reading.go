package session

import (
	"sync"

	"github.com/graphtrap/graphtrap/analyzer/outline"
	"github.com/graphtrap/graphtrap/server/position"
)

// reading is how far the lines of a document were read, in whatever version. A
// version that is read next goes on from there, so that a document which changes
// faster than it is read gets read all the same.
type reading struct {
	mu      sync.Mutex
	outline *outline.Outline
	// text is what was read. Where the document only grew it shares its bytes with
	// the current version.
	text *position.Text
}

func readingAfter(old *Snapshot) *reading {
	if old == nil || old.reading == nil {
		return &reading{}
	}
	return old.reading
}

// Outlined is the latest outline of the document, or what was read for one, and how
// many bytes at the start of that version are still the same. It is nil if there is
// none.
func (s *Snapshot) Outlined() (o *outline.Outline, same int64) {
	r := s.reading
	if r == nil {
		return nil, 0
	}
	r.mu.Lock()
	o, text := r.outline, r.text
	r.mu.Unlock()
	if o == nil {
		return nil, 0
	}
	return o, int64(s.Text.Same(text))
}

// OutlinedAs notes the outline of this version, or what was read for it, for the
// versions that follow. o may be nil.
func (s *Snapshot) OutlinedAs(o *outline.Outline) {
	if s.reading == nil || o == nil {
		return
	}
	s.reading.mu.Lock()
	defer s.reading.mu.Unlock()
	s.reading.outline, s.reading.text = o, s.Text
}
