package pysource

// loop is a for or while statement, or a comprehension.
type loop struct {
	outer    int32 // the next loop around it in the same function, or -1
	root     int32 // the outermost of those, itself if there is none
	block    int32 // its block; -1 for a comprehension
	line     int32 // the logical line of its header, or that holds it
	function int32 // the function block that runs it
	// open and close are the brackets around a comprehension.
	open, close int32
}

// comprehension is a for clause inside brackets. What it iterates over first,
// from iter to iterEnd, is run once; all else is run every turn.
type comprehension struct {
	open, close   int32
	iter, iterEnd int32
}

// buildLoops finds the innermost loop of every token. The loops of blocks are
// known; comprehensions are added here.
func (s *Source) buildLoops() {
	s.loopOf = make([]int32, len(s.tokens))
	for i := range s.loopOf {
		s.loopOf[i] = s.blocks[s.blockOf[i]].loop
	}
	for index, line := range s.lines {
		s.markComprehensions(int32(index), s.comprehensions(line))
	}
}

// comprehensions finds those of one line, in the order they are closed.
func (s *Source) comprehensions(line logicalLine) []comprehension {
	type bracket struct {
		comprehension
		seen bool // a for was seen
	}
	var found []comprehension
	var open []bracket
	for i := line.first; i < line.last; i++ {
		if s.isOpening(i) {
			open = append(open, bracket{comprehension: comprehension{open: i, close: s.match[i], iter: -1, iterEnd: -1}})
			continue
		}
		if len(open) == 0 {
			continue
		}
		top := &open[len(open)-1]
		switch {
		case i == top.close:
			if top.iter >= 0 && top.iterEnd < 0 {
				top.iterEnd = i
			}
			if top.iter >= 0 {
				found = append(found, top.comprehension)
			}
			open = open[:len(open)-1]
		case s.tokens[i].kind != nameToken:
		case !top.seen:
			top.seen = s.is(i, "for")
		case top.iter < 0:
			if s.is(i, "in") {
				top.iter = i + 1
			}
		case top.iterEnd < 0:
			if s.is(i, "for") || s.is(i, "if") || s.is(i, "async") {
				top.iterEnd = i
			}
		}
	}
	return found
}

// markComprehensions makes loops of them, outermost first, and gives each
// token the innermost one that runs it every turn.
func (s *Source) markComprehensions(line int32, found []comprehension) {
	if len(found) == 0 {
		return
	}
	at := make(map[int32]comprehension, len(found))
	for _, c := range found {
		at[c.open] = c
	}
	type active struct {
		comprehension
		loop, outer int32
	}
	var open []active
	for i := s.lines[line].first; i < s.lines[line].last; i++ {
		if len(open) > 0 {
			if top := open[len(open)-1]; i >= top.iter && i < top.iterEnd {
				s.loopOf[i] = top.outer
			} else {
				s.loopOf[i] = top.loop
			}
		}
		if c, ok := at[i]; ok {
			outer := s.loopOf[i]
			index := int32(len(s.loops))
			s.addLoop(loop{outer: outer, block: -1, line: line,
				function: s.blocks[s.blockOf[i]].function, open: c.open, close: c.close})
			open = append(open, active{c, index, outer})
		}
		if len(open) > 0 && i == open[len(open)-1].close {
			open = open[:len(open)-1]
		}
	}
}

// addLoop adds a loop whose outer loop is known.
func (s *Source) addLoop(l loop) {
	l.root = int32(len(s.loops))
	if l.outer >= 0 {
		l.root = s.loops[l.outer].root
	}
	s.loops = append(s.loops, l)
}

// rootLoop is the outermost loop, in its own function, that runs token i every
// turn, or -1.
func (s *Source) rootLoop(i int32) int32 {
	if s.loopOf[i] < 0 {
		return -1
	}
	return s.loops[s.loopOf[i]].root
}

// inLoop reports whether token i is run by loop index, at any depth, in the
// function of the loop.
func (s *Source) inLoop(i, index int32) bool {
	for l := s.loopOf[i]; l >= 0; l = s.loops[l].outer {
		if l == index {
			return true
		}
	}
	return false
}

// span is the tokens of a loop: header and suite, or brackets.
func (s *Source) span(index int32) (first, last int32) {
	l := s.loops[index]
	if l.block < 0 {
		return l.open, l.close + 1
	}
	return s.lines[l.line].first, s.blocks[l.block].last
}
