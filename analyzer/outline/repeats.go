package outline

// drawing is a line as far as it may repeat another one.
type drawing struct {
	shape      uint64
	start, end int64
	blank, bar bool
	times      int // that it was drawn: a rewritten line more than once
}

// repeats finds runs of lines whose shapes repeat, alone or in blocks of up to
// maxPeriod lines. It remembers the latest lines only.
type repeats struct {
	latest [maxPeriod]drawing // a ring
	n      int                // of lines since the last end
	runs   [maxPeriod]run     // by period-1
}

// run is a run of lines each of which looks like the one a period before it.
type run struct {
	lines, times int // lines is 0 where no run is open
	start, end   int64
	blank, bar   bool
}

func (r *run) take(d drawing) {
	if r.lines == 0 {
		r.start, r.blank = d.start, true
	}
	r.lines++
	r.times += d.times
	r.end, r.blank, r.bar = d.end, r.blank && d.blank, r.bar || d.bar
}

// fold is the part that a run makes, if it is long enough.
func (r *run) fold(period int) (Fold, bool) {
	switch {
	case r.blank || r.lines == 0:
		return Fold{}, false
	case period > 1:
		return Fold{Kind: Repeat, Start: r.start, End: r.end, Lines: r.lines, period: period}, r.lines >= minRepeat*period
	case r.bar || r.times > r.lines:
		return Fold{Kind: Bar, Start: r.start, End: r.end, Lines: r.times}, r.times >= minRepeat
	}
	return Fold{Kind: Repeat, Start: r.start, End: r.end, Lines: r.lines}, r.lines >= minRepeat
}

// add takes the next line. Where it ends a run that is long enough, it returns it;
// of several the one with the shortest period, and the others are forgotten.
func (r *repeats) add(d drawing) (Fold, bool) {
	for k := 1; k <= maxPeriod; k++ {
		open := &r.runs[k-1]
		if r.n >= k && r.ago(k).shape == d.shape {
			if open.lines == 0 {
				for back := k; back >= 1; back-- {
					open.take(r.ago(back))
				}
			}
			open.take(d)
			continue
		}
		if f, ok := open.fold(k); ok {
			*r = repeats{}
			r.push(d)
			return f, true
		}
		*open = run{}
	}
	r.push(d)
	return Fold{}, false
}

// ago is the line that came k lines before the next one.
func (r *repeats) ago(k int) drawing { return r.latest[(r.n-k)%maxPeriod] }

func (r *repeats) push(d drawing) {
	r.latest[r.n%maxPeriod] = d
	r.n++
	if alone := &r.runs[0]; alone.lines == 0 {
		alone.take(d) // a run of its own, if it was drawn often
	}
}

// end ends all runs, and returns the one that is long enough, as add does.
func (r *repeats) end() (Fold, bool) {
	runs := r.runs
	*r = repeats{}
	for k := range runs {
		if f, ok := runs[k].fold(k + 1); ok {
			return f, true
		}
	}
	return Fold{}, false
}
