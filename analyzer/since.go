package analyzer

import (
	"bytes"
	"io"
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
)

// Where the initiating line prints no time, those of the lines around it stand for
// it, if they are close to each other: then nobody else's lines were put in between
// much later, and no file ends there.
const (
	// around bounds how far they are looked for, in bytes to each side.
	around = 64 << 10
	// nearby is how far apart the two may be.
	nearby = 10 * time.Second
)

// initiation is when the initiating event happened.
type initiation struct {
	time *incident.Time // nil if it is not known
	// within is how much later than time it may have been, where the times of other
	// lines stand for it.
	within time.Duration
	around bool
}

// since returns how long after the initiating event a time was printed.
func (l *lines) since(t *incident.Time) *incident.Elapsed {
	if t == nil {
		return nil
	}
	begin := l.initiated()
	d, within, ok := timeline.Elapsed(begin.time, t)
	if !ok {
		return nil
	}
	return &incident.Elapsed{Seconds: d.Seconds(), Within: max(within, begin.within).Seconds(), Around: begin.around}
}

// findInitiation finds the time of the initiating event. There is none where no line
// states it, and where a line only shows who lags: its time is not that of the failure.
func (l *lines) findInitiation(v *incident.Verdict) initiation {
	i := v.Initiator
	if v.Status == incident.NoFailureFound || i == nil || i.StatedAt == nil {
		return initiation{}
	}
	if i.Time != nil {
		return initiation{time: i.Time}
	}
	for file, f := range l.files {
		if f.Path == i.StatedAt.File {
			return l.bracket(file, i.StatedAt)
		}
	}
	return initiation{}
}

// bracket takes the time of a line from the lines around it.
func (l *lines) bracket(file int, at *incident.Location) initiation {
	data, size := l.files[file].Data, l.files[file].Size
	from, to := max(0, at.Offset-around), min(size, at.EndOffset+around)
	text := make([]byte, to-from)
	if n, err := data.ReadAt(text, from); err != nil && (err != io.EOF || n < len(text)) {
		return initiation{} // the file is closed or gone: its lines keep their own times
	}
	start := bytes.LastIndexByte(text[:at.Offset-from], '\n') + 1
	end := int(at.EndOffset - from)
	if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
		end += i
	} else {
		end = len(text)
	}
	if l.timed(file, text[start:end]) != nil {
		return initiation{}
	}
	before, behind := l.lastTime(file, text[:start], from == 0), l.firstTime(file, text[end:])
	gap, within, ok := timeline.Elapsed(before, behind)
	if !ok || gap.Abs() > nearby {
		return initiation{}
	}
	if gap < 0 {
		before, gap = behind, -gap
	}
	return initiation{time: before, within: max(gap, within), around: true}
}

// lastTime is the last time printed in lines. The first line counts if it is whole.
func (l *lines) lastTime(file int, text []byte, whole bool) *incident.Time {
	for len(text) > 0 {
		text = bytes.TrimSuffix(text, []byte("\n"))
		start := bytes.LastIndexByte(text, '\n') + 1
		if start == 0 && !whole {
			return nil
		}
		if t := l.timed(file, text[start:]); t != nil {
			return t
		}
		text = text[:start]
	}
	return nil
}

// firstTime is the first time printed in lines.
func (l *lines) firstTime(file int, text []byte) *incident.Time {
	for raw := range bytes.Lines(text) {
		if t := l.timed(file, bytes.TrimSuffix(raw, []byte("\n"))); t != nil {
			return t
		}
	}
	return nil
}

// timed is the first time on a raw line that can be read.
func (l *lines) timed(file int, raw []byte) *incident.Time {
	for _, p := range line.Decode(raw, l.layouts[file]) {
		if t := p.Stamp.Time(); t != nil && t.At != nil {
			return t
		}
	}
	return nil
}
