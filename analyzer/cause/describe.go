package cause

import (
	"cmp"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/signatures"
)

// describe fills in what the failure's file says, where its conditions hold.
func (q *Inquiry) describe(v *incident.Verdict, f *signatures.Failure, e *message.Event) {
	graph, why := q.graphPool(f, e)
	v.GraphPoolIsCause = graph
	v.Evidence = append(v.Evidence, why...)
	for i := range f.Evidence {
		ev := &f.Evidence[i]
		p := q.holds(ev.When, e)
		says, ok := fill(ev.Says, values(e))
		if !ok || says == "" {
			continue
		}
		item := incident.ChecklistItem{Item: says, State: "not seen", Location: p.at}
		switch p.holds {
		case incident.Yes:
			item.State = "seen"
			v.Evidence = append(v.Evidence, q.evidence(ev.Says, incident.Weight(ev.For), p, e)...)
		case incident.No:
			item.State, item.Location = "not seen", nil
		}
		v.Checklist = append(v.Checklist, item)
	}
	chosen := map[string]bool{}
	for i := range f.Fixes {
		x := &f.Fixes[i]
		if x.Choice != "" && chosen[x.Choice] {
			continue
		}
		if q.addFix(v, x, e) {
			chosen[x.Choice] = true
		}
	}
	v.Related = slices.Clone(f.Related)
	for _, r := range f.References {
		v.References = append(v.References, incident.Reference(r))
	}
	v.Summary, _ = fill(f.Summary, values(e))
}

// addFix offers a fix if its condition holds and all that it names is known.
func (q *Inquiry) addFix(v *incident.Verdict, f *signatures.Fix, e *message.Event) bool {
	if q.holds(f.When, e).holds != incident.Yes {
		return false
	}
	vals, known := values(e), true
	filled := func(text string) string {
		text, ok := fill(text, vals)
		known = known && ok
		return text
	}
	fix := incident.Fix{
		ID: f.ID, Title: filled(f.Title), Stack: f.Stack, Why: filled(f.Why), Code: filled(f.Code), Language: f.Language,
		Precondition: filled(f.Precondition), Risk: filled(f.Risk), Rollback: filled(f.Rollback),
	}
	if !known {
		return false
	}
	v.Fixes = append(v.Fixes, fix)
	for _, c := range f.Verify {
		command, okC := fill(c.Command, vals)
		expect, okE := fill(c.Expect, vals)
		if okC && okE {
			v.Verify = append(v.Verify, incident.Verify{Command: command, Language: cmp.Or(c.Language, "shell"), Expect: expect})
		}
	}
	return true
}

// person gives the initiator's part of the report.
func (q *Inquiry) person(e *message.Event, o incident.Origin) *incident.Initiator {
	stated := e.Location()
	location := stated
	if tb := e.Traceback; tb != nil && tb.Complete() && tb.Stated.Start == e.At.Start && tb.Stated.File == e.At.File {
		block := line.Span(tb.First, e.Last, e.At)
		if block.EndLine-block.Line <= maxBlock {
			location = block
		}
	}
	p := &incident.Initiator{
		Rank: o.Rank, LocalRank: o.LocalRank, PID: o.PID, RankFrom: o.RankFrom,
		Location: &location, StatedAt: &stated, Time: e.Time, FrameTrusted: !e.Async(),
	}
	if o.Host != "" {
		p.Host = &o.Host
	}
	if o.Process != "" {
		p.Process = &o.Process
	}
	if frames := UserFrames(e); len(frames) > 0 {
		p.Frame = &frames[0]
	} else if e.Traceback != nil && len(e.Traceback.Frames) > 0 {
		p.Frame = &e.Traceback.Frames[len(e.Traceback.Frames)-1]
	}
	return p
}

// maxBlock bounds the lines of an initiator's location: where many ranks print
// at once, a block that spans all of them points at nothing.
const maxBlock = 200

// UserFrames are the frames of the event's traceback that are not library code,
// innermost first.
func UserFrames(e *message.Event) []incident.Frame {
	if e == nil || e.Traceback == nil {
		return nil
	}
	var out []incident.Frame
	for _, f := range slices.Backward(e.Traceback.Frames) {
		if !libraryCode(f.Path) {
			out = append(out, f)
		}
	}
	return out
}

func libraryCode(path string) bool {
	for _, part := range []string{"site-packages/", "dist-packages/", "/lib/python", "<frozen", "<string>", "<eval_with_key>", "torchinductor_"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return strings.HasPrefix(path, "<")
}
