package scan

import (
	"slices"
	"testing"
)

// sieved gives every nth of n lines as a vital hit, the others as ordinary ones.
func sieved(n, vital int) ([]Hit, []string) {
	var s sieve
	for i := range n {
		s.add(Hit{Line: int64(i + 1), Offset: int64(100 * i)}, i%vital == 0)
	}
	return s.result()
}

func inOrder(t *testing.T, hits []Hit) {
	t.Helper()
	if !slices.IsSortedFunc(hits, func(a, b Hit) int { return int(a.Line - b.Line) }) {
		t.Error("hits are not in the order of the file")
	}
}

func TestSieveKeepsAllThatFits(t *testing.T) {
	hits, cut := sieved(1000, 3)
	if inOrder(t, hits); len(hits) != 1000 || cut != nil {
		t.Errorf("%d hits, cut %q", len(hits), cut)
	}
}

// Lines that come in any number are sampled evenly, those that may tell of a
// failure are all kept.
func TestSieveSamplesOrdinaryLines(t *testing.T) {
	const n = 8 * MaxOrdinary
	hits, cut := sieved(n, 1000)
	inOrder(t, hits)
	vital, early, late := 0, 0, 0
	for _, h := range hits {
		switch i := h.Line - 1; {
		case i%1000 == 0:
			vital++
		case i < n/2:
			early++
		default:
			late++
		}
	}
	if want := n/1000 + 1; vital != want || cut != nil {
		t.Errorf("%d of %d vital lines, cut %q", vital, want, cut)
	}
	if early+late > MaxOrdinary || early+late < MaxOrdinary/4 || early > 2*late || late > 2*early {
		t.Errorf("%d early and %d late lines", early, late)
	}
}

// Of too many vital lines the first and the last are kept, and the result says so.
func TestSieveKeepsFirstAndLast(t *testing.T) {
	const n = MaxVital + 1000
	hits, cut := sieved(n, 1)
	inOrder(t, hits)
	if len(hits) != MaxVital || hits[0].Line != 1 || hits[MaxVital-1].Line != n || len(cut) != 1 {
		t.Errorf("%d hits, %v to %v, cut %q", len(hits), hits[0], hits[len(hits)-1], cut)
	}
}

// A line seen from two chunks is one hit, and vital if either of them says so.
func TestSieveJoinsALineSeenTwice(t *testing.T) {
	var s sieve
	s.add(Hit{Line: 1}, false)
	s.add(Hit{Line: 1}, true)
	s.add(Hit{Line: 2, Offset: 10}, false)
	hits, _ := s.result()
	if len(hits) != 2 || len(s.vital) != 1 {
		t.Errorf("%v, %d vital", hits, len(s.vital))
	}
}
