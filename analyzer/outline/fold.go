package outline

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/graphtrap/graphtrap/analyzer/traceback"
)

// What is worth folding.
const (
	minTraceback = 3 // lines: the header and one frame with its source
	minBlock     = 4 // lines of one printer
	minRepeat    = 4 // times
	// maxPeriod bounds the lines of a block that is repeated: a training loop may
	// print its loss, its memory and its timers at each step.
	maxPeriod = 4
)

// fold takes the next line into the parts that it may belong to.
func (r *reader) fold(l row, raw []byte) {
	r.traceback(l)
	if l.tb != nil {
		r.add(r.repeats.end())
		return
	}
	s := drawing{start: l.start, end: l.end, blank: l.blank, times: 1}
	if !l.blank {
		s.shape, s.bar = shape(raw)
		s.times += redrawn(raw)
	}
	r.add(r.repeats.add(s))
}

// redrawn is how often a line was rewritten.
func redrawn(raw []byte) int { return bytes.Count(bytes.TrimRight(raw, "\r\n"), []byte("\r")) }

// traceback takes the next line into the traceback of the line before, up to the
// exception's line, which stays in sight.
func (r *reader) traceback(l row) {
	inside := l.tb != nil && l.part != traceback.Stated
	if !inside || l.tb != r.tb {
		r.add(r.open, r.open.Lines >= minTraceback)
		r.open, r.tb = Fold{}, nil
	}
	if !inside {
		return
	}
	if r.tb == nil {
		r.open, r.tb = Fold{Kind: Traceback, Start: l.start}, l.tb
	}
	r.open.End = l.end
	r.open.Lines++
	if l.frame {
		r.open.Frames++
	}
}

func (r *reader) add(f Fold, ok bool) {
	switch {
	case !ok:
	case len(r.firm) >= MaxFolds:
		r.foldsCut = true
	default:
		r.firm = append(r.firm, f)
	}
}

// parts are the tracebacks and repetitions with those that are still open at the
// end, in order. A line to be kept is in no repetition: what is before and what is
// behind it may still be one.
func (r *reader) parts(keep []int64) []Fold {
	all := slices.Clone(r.firm)
	if r.open.Lines >= minTraceback && len(all) < MaxFolds {
		all = append(all, r.open)
	}
	last := r.repeats
	if f, ok := last.end(); ok && len(all) < MaxFolds {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Fold) int { return cmp.Compare(a.Start, b.Start) })
	out := all[:0:0]
	for _, f := range all {
		for ; f.Kind != Traceback && len(keep) > 0 && keep[0] < f.End; keep = keep[1:] {
			if keep[0] < f.Start {
				continue
			}
			line := f.Start + int64(bytes.LastIndexByte(r.text[f.Start:keep[0]], '\n')) + 1
			before := f
			before.End = line
			if before, ok := r.recount(before); ok {
				out = append(out, before)
			}
			f.Start = f.End
			if i := bytes.IndexByte(r.text[keep[0]:], '\n'); i >= 0 {
				f.Start = min(f.End, keep[0]+int64(i)+1)
			}
			f, _ = r.recount(f)
		}
		if f.Lines > 0 {
			out = append(out, f)
		}
	}
	return out
}

// recount counts the lines of a repetition that was cut. ok is false, and the lines
// are 0, where too few are left.
func (r *reader) recount(f Fold) (Fold, bool) {
	lines := 0
	for l := range bytes.Lines(r.text[f.Start:f.End]) {
		lines++
		if f.Kind == Bar {
			lines += redrawn(l)
		}
	}
	if f.Lines = lines; lines < minRepeat*max(f.period, 1) {
		f.Lines = 0
	}
	return f, f.Lines > 0
}

// nest puts blocks around the parts that lie in them. A block that would cut one
// ends in front of it or starts behind it.
func nest(text []byte, firm, blocks []Fold) []Fold {
	out := slices.Clone(firm)
	at := 0
	for _, b := range blocks {
		for at < len(firm) && firm[at].End <= b.Start {
			at++
		}
		start, end, same := b.Start, b.End, false
		for _, f := range firm[at:] {
			if f.Start >= b.End {
				break
			}
			same = same || f.Start == start && f.End == end
			if f.Start < start {
				start = f.End
			} else if f.End > end {
				end = f.Start
			}
		}
		if same || start >= end {
			continue
		}
		if start != b.Start || end != b.End {
			b.Start, b.End = start, end
			if b.Lines = bytes.Count(text[start:end], []byte("\n")); b.Lines < minBlock {
				continue
			}
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Fold) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	return out
}
