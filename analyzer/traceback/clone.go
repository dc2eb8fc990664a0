package traceback

import "slices"

// Clone returns a joiner that goes on from here by itself. It copies all
// tracebacks, and notes in copies which one stands for which.
func (j *Joiner) Clone(copies map[*Traceback]*Traceback) *Joiner {
	c := &Joiner{streams: make(map[stream]*open, len(j.streams)), done: make([]*Traceback, len(j.done)), swept: j.swept}
	for i, tb := range j.done {
		copied := *tb
		copied.Frames = slices.Clone(tb.Frames)
		c.done[i], copies[tb] = &copied, &copied
	}
	for _, tb := range c.done {
		if tb.Above != nil {
			tb.Above = copies[tb.Above]
		}
	}
	opens := map[*open]*open{nil: nil}
	clone := func(o *open) *open {
		if _, ok := opens[o]; !ok {
			copied := *o
			copied.tb = copies[o.tb]
			opens[o] = &copied
		}
		return opens[o]
	}
	for key, o := range j.streams {
		c.streams[key] = clone(o)
	}
	c.loose = clone(j.loose)
	return c
}
