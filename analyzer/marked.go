package analyzer

import (
	"bytes"
	"io"
	"regexp"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Marked reports whether a text that may be anything surely is the log of a job, for
// those who would rather say nothing than be wrong: it states a failure that the
// signatures know, or several ranks speak in it, and it is not prose that quotes
// such a log. It may be wrong the other way.
func (a *Analysis) Marked() bool {
	v := &a.Report.Verdict
	if v.Status != incident.Diagnosed && v.Status != incident.Undetermined {
		return false
	}
	known := v.Signature != nil && *v.Signature != ""
	if !known && len(a.Report.Coverage.RanksSeen) < 2 {
		return false
	}
	return a.lines == nil || len(a.lines.files) != 1 || !a.lines.prose(statedAt(v))
}

// statedAt is where the verdict's failure stands; 0 where nothing says.
func statedAt(v *incident.Verdict) int64 {
	switch i := v.Initiator; {
	case i != nil && i.StatedAt != nil:
		return i.StatedAt.Offset
	case i != nil && i.Location != nil:
		return i.Location.Offset
	case len(v.Evidence) > 0:
		return v.Evidence[0].Location.Offset
	}
	return 0
}

// What makes a text prose.
const (
	// proseLook is how much is looked at, at the start and to each side of the
	// failure, in bytes.
	proseLook = 16 << 10
	// proseShare is the share of sentences among its lines. Programs print some, too.
	proseShare = 0.25
)

var (
	// markup begins a block that quotes, or a heading.
	markup = regexp.MustCompile("^(?:\\s{0,3}(?:```|~~~)|#{1,6} +[A-Z][a-z]|\\.\\. [a-z-]+::|<(?:!DOCTYPE|html|pre|code)\\b)")
	// sentence is a line of running text: words, and little else.
	sentence = regexp.MustCompile(`^\s*(?:[-*+] |\d{1,2}[.)] )?["'(` + "`" + `]?[A-Za-z][\w'’-]*(?:[ ,;:]+[("'` + "`" + `]?[A-Za-z][\w'’./=()` + "`" + `"-]*[,;:.!?)]*){5,}[.!?:]*\s*$`)
)

// prose reports whether a file is written by a person, by what stands at its start
// and around an offset.
func (l *lines) prose(around int64) bool {
	f := l.files[0]
	lines, sentences := 0, 0
	for _, from := range []int64{0, max(0, around-proseLook)} {
		text := make([]byte, min(2*proseLook, f.Size-from))
		if n, err := f.Data.ReadAt(text, from); err != nil && (err != io.EOF || n < len(text)) {
			return false
		}
		for raw := range bytes.Lines(text) {
			raw = bytes.TrimRight(raw, "\r\n")
			switch {
			case len(bytes.TrimSpace(raw)) == 0:
				continue
			case markup.Match(raw):
				return true
			}
			if lines++; sentence.Match(raw) && !l.printed(raw) {
				sentences++
			}
		}
	}
	return float64(sentences) > proseShare*float64(lines)
}

// printed reports whether a line says who printed it or when.
func (l *lines) printed(raw []byte) bool {
	for _, p := range line.Decode(raw, l.layouts[0]) {
		if p.Origin.Known() || p.Stamp.Text != "" || p.Level != 0 {
			return true
		}
	}
	return false
}
