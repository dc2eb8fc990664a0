package pysource

// locate finds the capture that a traceback frame at line points at; line 0
// means the only one of the file that is repeated by a loop.
func (s *Source) locate(line int) (Site, error) {
	if line == 0 {
		return s.locateAny()
	}
	index := s.logicalLineAt(line)
	if index < 0 {
		return Site{}, Refusal{Reason: ReasonNoSite, Line: line}
	}
	first, last := s.lines[index].first, s.lines[index].last
	if here := s.capturesIn(first, last); len(here) > 0 {
		return pick(s, here, line)
	}
	// The innermost with statement of a capture whose body holds the line.
	inner := s.blockOf[last-1]
	if st := s.statementAt(first); st != nil && st.opens >= 0 {
		inner = st.opens // a header points into its block
	}
	for b := inner; b >= 0; b = s.blocks[b].parent {
		if s.blocks[b].kind != withBlock {
			continue
		}
		if here := s.capturesIn(s.lines[s.blocks[b].line].first, s.blocks[b].colon); len(here) > 0 {
			return pick(s, here, line)
		}
	}
	// The innermost loop or function that holds any capture.
	for b := inner; b >= 0; b = s.blocks[b].parent {
		if kind := s.blocks[b].kind; kind != loopBlock && kind != functionBlock {
			continue
		}
		if here := s.capturesIn(s.lines[s.blocks[b].line].first, s.blocks[b].last); len(here) > 0 {
			return pick(s, here, line)
		}
	}
	return Site{}, Refusal{Reason: ReasonNoSite, Line: line}
}

// locateAny picks among all captures of the file that a loop repeats.
func (s *Source) locateAny() (Site, error) {
	all := s.capturesIn(0, int32(len(s.tokens)))
	var repeated, open []Site
	for _, site := range all {
		if site.Loop == nil {
			continue
		}
		repeated = append(repeated, site)
		if site.Pool == PoolMissing {
			open = append(open, site)
		}
	}
	switch {
	case len(open) > 0:
		return pick(s, open, 0)
	case len(repeated) > 0:
		return repeated[0], nil // refused later, with its reason
	case len(all) > 0:
		return all[0], nil
	}
	return Site{}, Refusal{Reason: ReasonNoSite}
}

// pick chooses among captures that a line may mean. One loop with several of
// them is no doubt: they all get the same handle.
func pick(s *Source, sites []Site, line int) (Site, error) {
	best, found := sites[0], false
	for _, site := range sites {
		if site.Line <= line && line <= site.EndLine {
			if found && s.rootLoop(site.call.name) != s.rootLoop(best.call.name) {
				return Site{}, Refusal{Reason: ReasonSeveralSites, Line: site.Line}
			}
			if !found || best.Pool != PoolMissing && site.Pool == PoolMissing {
				best, found = site, true
			}
		}
	}
	if found || len(sites) == 1 {
		return best, nil
	}
	root := s.rootLoop(best.call.name)
	for _, site := range sites {
		if root < 0 || s.rootLoop(site.call.name) != root {
			return Site{}, Refusal{Reason: ReasonSeveralSites, Line: site.Line}
		}
		if best.Pool != PoolMissing && site.Pool == PoolMissing {
			best = site
		}
	}
	return best, nil
}

// capturesIn is the captures between two tokens.
func (s *Source) capturesIn(first, last int32) []Site {
	var found []Site
	for _, site := range s.Sites {
		if site.Kind.Captures() && first <= site.call.name && site.call.name < last {
			found = append(found, site)
		}
	}
	return found
}

// logicalLineAt is the logical line that a physical line is part of, or -1.
func (s *Source) logicalLineAt(line int) int {
	low, high := 0, len(s.lines)
	for low < high {
		if mid := (low + high) / 2; s.lineOf(s.tokens[s.lines[mid].last-1].end) < line {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(s.lines) || s.lineOf(s.tokens[s.lines[low].first].start) > line {
		return -1
	}
	return low
}
