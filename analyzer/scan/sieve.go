package scan

import (
	"fmt"
	"slices"
)

// sieve keeps hits, which come in the order of the file, in bounded memory. What it
// keeps depends on the hits alone and not on how they come.
type sieve struct {
	vital, ordinary []Hit
	last            Hit
	lastVital       bool
	any             bool

	// latest is a ring of the vital hits beyond the first half of MaxVital.
	latest  []Hit
	next    int
	dropped int64
	// level: of the ordinary hits one in 2^level is kept, chosen by its offset,
	// so that no process's lines are favoured.
	level uint
}

// add takes the next hit; a line that was found in two chunks comes twice.
func (s *sieve) add(h Hit, vital bool) {
	if s.any && s.last.Offset == h.Offset {
		s.lastVital = s.lastVital || vital
		return
	}
	s.flush()
	s.last, s.lastVital, s.any = h, vital, true
}

func (s *sieve) flush() {
	if !s.any {
		return
	}
	s.any = false
	if s.lastVital {
		s.keepVital(s.last)
		return
	}
	if !s.sampled(s.last) {
		return
	}
	s.ordinary = append(s.ordinary, s.last)
	for len(s.ordinary) > MaxOrdinary {
		s.level++
		s.ordinary = slices.DeleteFunc(s.ordinary, func(h Hit) bool { return !s.sampled(h) })
	}
}

func (s *sieve) sampled(h Hit) bool {
	mixed := uint64(h.Offset) * 0x9e3779b97f4a7c15
	return mixed>>(64-s.level) == 0 // always, at level 0
}

func (s *sieve) keepVital(h Hit) {
	switch {
	case len(s.vital) < MaxVital/2:
		s.vital = append(s.vital, h)
	case len(s.latest) < MaxVital/2:
		s.latest = append(s.latest, h)
	default:
		s.latest[s.next] = h
		s.next = (s.next + 1) % len(s.latest)
		s.dropped++
	}
}

// result returns the hits kept, in the order of the file, and what was cut.
func (s *sieve) result() (hits []Hit, cut []string) {
	s.flush()
	vital := slices.Concat(s.vital, s.latest[s.next:], s.latest[:s.next])
	hits = slices.Grow(hits, len(vital)+len(s.ordinary))
	for _, h := range s.ordinary {
		for len(vital) > 0 && vital[0].Line < h.Line {
			hits, vital = append(hits, vital[0]), vital[1:]
		}
		hits = append(hits, h)
	}
	hits = append(hits, vital...)
	if s.dropped > 0 {
		cut = append(cut, fmt.Sprintf("%d lines between the first and the last %d that may tell of a failure were not read", s.dropped, MaxVital/2))
	}
	return hits, cut
}
