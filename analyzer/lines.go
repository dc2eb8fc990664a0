package analyzer

import (
	"github.com/graphtrap/graphtrap/analyzer/cause"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// Line is what is known of one line of a file, or of one of several records on it.
type Line struct {
	// Origin is who printed it, completed by what the whole log says of who is who.
	Origin incident.Origin
	// Time is the printed time; nil if the line has none.
	Time *incident.Time
	// Text covers the line without its prefixes.
	Text incident.Location
	// Messages are what known programs say on it, the first one first.
	Messages []Message
}

// Message is a known message on a line.
type Message struct {
	ID   string
	Role incident.Role
	// Says tells in one sentence what the line means.
	Says  string
	Facts map[string]incident.Fact
	// Source says where the message's text was read: a file of a program.
	Source string
}

// lines decodes single lines of the files of one analysis.
type lines struct {
	set     *signatures.Set
	layouts []line.Layout
	run     *timeline.Run
}

// Line decodes one line of the file with an index, given without its LF, with its
// number (from 1) and its offset in the file. Lines are decoded when they are asked
// for; nothing of the whole file is kept for it.
func (a *Analysis) Line(file int, raw []byte, number, offset int64) []Line {
	l := a.lines
	if l == nil || file < 0 || file >= len(l.layouts) || file >= len(a.Report.Input.Files) {
		return nil
	}
	var out []Line
	for _, piece := range line.Decode(raw, l.layouts[file]) {
		p := line.Placed{
			Piece: piece, File: file, Path: a.Report.Input.Files[file].Path,
			Number: number, Start: offset, Length: len(raw),
		}
		decoded := Line{Origin: l.run.Resolve(p.Origin), Time: p.Stamp.Time(), Text: p.Location()}
		events := message.OnLine(p, l.set)
		decode(events)
		for _, e := range events {
			m := Message{ID: e.ID, Role: e.Role, Facts: e.Facts, Source: e.Message.Source}
			m.Says, _ = cause.Says(e)
			decoded.Messages = append(decoded.Messages, m)
		}
		out = append(out, decoded)
	}
	return out
}
