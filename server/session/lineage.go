package session

import (
	"sync/atomic"

	"github.com/graphtrap/graphtrap/analyzer"
)

// lineage is where a version of a document comes from, for the analysis, which goes
// on from that of an earlier version. It holds no text.
type lineage struct {
	// parent is the version before; nil for the first one, and once this version
	// was analysed.
	parent atomic.Pointer[lineage]
	// same is how many bytes at the start are those of the parent.
	same int
	// grew is set if nothing of the parent was taken away.
	grew     bool
	depth    int
	analysis atomic.Pointer[analyzer.Analysis]
}

// maxDepth bounds the versions that are remembered of a document that changes and
// is not analysed.
const maxDepth = 4096

// follow notes that s comes after old.
func (s *Snapshot) follow(old *Snapshot) {
	s.reading = readingAfter(old)
	if old == nil || old.lineage == nil {
		s.lineage = &lineage{}
		return
	}
	same := s.Text.Same(old.Text)
	s.lineage = &lineage{same: same, grew: same == old.Text.Len(), depth: old.lineage.depth + 1}
	if s.lineage.depth < maxDepth {
		s.lineage.parent.Store(old.lineage)
	} else {
		s.lineage.depth = 0
	}
	s.marked.Store(old.marked.Load())
	s.spoken.Store(old.spoken.Load())
	s.told.Store(old.told.Load())
}

// Grew reports whether the document is the version before with text behind it.
func (s *Snapshot) Grew() bool { return s.lineage != nil && s.lineage.grew }

// GrownFrom reports whether the document is old with more text behind it, over
// whatever versions in between.
func (s *Snapshot) GrownFrom(old *Snapshot) bool {
	for n := s.lineage; n != nil; n = n.parent.Load() {
		if n == old.lineage {
			return true
		}
		if !n.grew {
			return false
		}
	}
	return false
}

// Earlier is the analysis of the latest earlier version that was analysed, and how
// many bytes at the start of that version are still the same. It is nil if there is none.
func (s *Snapshot) Earlier() (a *analyzer.Analysis, same int64) {
	n := s.lineage
	if n == nil {
		return nil, 0
	}
	same = int64(s.Text.Len())
	for {
		if a := n.analysis.Load(); a != nil {
			return a, same
		}
		parent := n.parent.Load()
		if parent == nil {
			// It may have been analysed in the meantime, which cuts it off its parent.
			return n.analysis.Load(), same
		}
		same, n = min(same, int64(n.same)), parent
	}
}

// Analysed notes what the analysis of this version found, for those of later ones.
func (s *Snapshot) Analysed(a *analyzer.Analysis) {
	if s.lineage != nil {
		s.lineage.analysis.Store(a)
		s.lineage.parent.Store(nil) // nobody needs to look further back
	}
}

// Mark notes whether the text shows that a document that is perhaps a log is one.
func (s *Snapshot) Mark(isLog bool) {
	s.marked.Store(isLog)
	if isLog {
		s.spoken.Store(true)
	}
}

// Turned reports, once, that a document that is perhaps a log has turned out to be
// one, or to be none any more.
func (s *Snapshot) Turned() bool {
	now := s.marked.Load()
	return s.told.Swap(now) != now
}

// Spoken reports whether anything may have been said of the document.
func (s *Snapshot) Spoken() bool { return s.Watched() || s.spoken.Load() }
