package memory

import "slices"

// Clone returns a recorder that goes on from here by itself.
func (c *Recorder) Clone() Recorder {
	copied := Recorder{dropped: c.dropped, tracks: make([]*Track, len(c.tracks)), index: make(map[trackKey]*Track, len(c.index))}
	copies := make(map[*Track]*Track, len(c.tracks))
	for i, t := range c.tracks {
		track := *t
		track.Readings = slices.Clone(t.Readings)
		copied.tracks[i], copies[t] = &track, &track
	}
	for key, t := range c.index {
		copied.index[key] = copies[t]
	}
	return copied
}

// Clone returns a reader that goes on from here by itself.
func (r *Reader) Clone() Reader {
	copied := *r
	if r.rows != nil {
		rows := *r.rows
		rows.columns = slices.Clone(rows.columns)
		copied.rows = &rows
	}
	return copied
}
