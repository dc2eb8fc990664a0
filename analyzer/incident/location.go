package incident

import "unicode/utf8"

// Location is a stretch of one file of the incident.
type Location struct {
	File string `json:"file"`
	// Line and EndLine count LF only, from 1; EndLine is the last line meant.
	Line    int64 `json:"line"`
	EndLine int64 `json:"end_line"`
	// Column and EndColumn are bytes of the raw line, from 1; EndColumn is past the last byte.
	Column    int `json:"column"`
	EndColumn int `json:"end_column"`
	// Offset and EndOffset are bytes from the start of the file; EndOffset is past the last byte.
	Offset    int64 `json:"offset"`
	EndOffset int64 `json:"end_offset"`
	// Text is the stating line, cut at MaxLocationText bytes.
	Text string `json:"text"`
}

// MaxLocationText bounds [Location.Text], in bytes.
const MaxLocationText = 400

// Quoted is the text, with a mark at its end if it was cut.
func (l Location) Quoted() string {
	cut := len(l.Text) > MaxLocationText-utf8.UTFMax && l.EndOffset-l.Offset > int64(len(l.Text))
	if cut {
		return l.Text + "…"
	}
	return l.Text
}
