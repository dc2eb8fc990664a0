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
	r.printed(l)
	kept := false
	for r.keep < len(r.src.Keep) && r.src.Keep[r.keep] < l.end {
		kept = kept || r.src.Keep[r.keep] >= l.start
		r.keep++
	}
	if l.tb != nil || kept {
		r.flush()
		return
	}
	s := drawing{start: l.start, end: l.end, blank: l.blank, times: 1}
	if !l.blank {
		s.shape, s.bar = shape(raw)
		s.times += bytes.Count(bytes.TrimRight(raw, "\r"), []byte("\r"))
	}
	r.repeated(r.repeats.add(s))
}

// traceback takes the next line into the traceback of the line before, up to the
// exception's line, which stays in sight.
func (r *reader) traceback(l row) {
	inside := l.tb != nil && l.part != traceback.Stated
	if !inside || l.tb != r.tb {
		if r.open.Lines >= minTraceback {
			r.add(r.open)
		}
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

// printed takes the next line into the block of its printer. Blank lines end no
// block and no block ends in them.
func (r *reader) printed(l row) {
	if l.blank {
		return
	}
	if r.block.Lines > 0 && r.block.Printer != l.who {
		r.endBlock()
	}
	if l.who < 0 {
		return
	}
	if r.block.Lines == 0 {
		r.block = Fold{Kind: Block, Start: l.start, Printer: l.who}
	}
	r.block.End = l.end
	r.block.Lines++
}

func (r *reader) endBlock() {
	switch {
	case r.block.Lines < minBlock:
	case len(r.blocks) >= MaxFolds:
		r.foldsCut = true
	default:
		r.blocks = append(r.blocks, r.block)
	}
	r.block = Fold{}
}

func (r *reader) flush() { r.repeated(r.repeats.end()) }

func (r *reader) repeated(f Fold, ok bool) {
	if ok {
		r.add(f)
	}
}

func (r *reader) add(f Fold) {
	if len(r.firm) >= MaxFolds {
		r.foldsCut = true
		return
	}
	r.firm = append(r.firm, f)
}

// nest puts blocks around the parts that lie in them. A block that would cut one
// ends in front of it or starts behind it.
func nest(text []byte, firm, blocks []Fold) []Fold {
	slices.SortFunc(firm, func(a, b Fold) int { return cmp.Compare(a.Start, b.Start) })
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
