package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// verdict takes the first kind of answer that the log supports.
func (q *Inquiry) verdict() (incident.Verdict, *message.Event) {
	if f := q.initiator(); f != nil {
		return q.failed(f), f.event
	}
	if a := q.absent(); a != nil {
		return q.waited(a), nil
	}
	if v, ok := q.grew(); ok {
		return v, nil
	}
	if v, ok := q.repeatedOnly(); ok {
		return v, nil
	}
	if v, ok := q.warned(); ok {
		return v, nil
	}
	return incident.Verdict{
		Status: incident.NoFailureFound, Title: "no failure found",
		Summary:          "No line of this log states a failure that graphtrap knows, and no traceback ends in an exception.",
		GraphPoolIsCause: incident.Unknown, Confidence: incident.Possible,
	}, nil
}

// failed is the verdict where a line states the initiating failure.
func (q *Inquiry) failed(f *finding) incident.Verdict {
	e := f.event
	c := q.classify(e)
	v := incident.Verdict{Status: incident.Diagnosed, Confidence: incident.Confirmed}
	v.Initiator = q.person(e, f.origin)
	for _, t := range f.tied {
		v.CoInitiators = append(v.CoInitiators, *q.person(t, t.Origin))
	}
	what := ""
	if c.failure != nil {
		v.Signature = &c.failure.ID
		v.Confidence = c.confidence
		what, _ = fill(c.failure.Title, values(e))
		q.describe(&v, c.failure, e)
	} else {
		what = unknownTitle(e)
		v.Confidence = incident.Likely
		v.GraphPoolIsCause, v.Evidence = q.unclassified(e)
	}
	v.Title = q.title(f, what)
	v.Summary = q.summary(f, what, &v)
	if c.doubt != nil {
		v.Confidence = incident.Possible
		v.Rivals = append(v.Rivals, incident.Rival{
			Signature: c.doubt.ID, Rank: f.origin.Rank, WhyNot: "the log does not show what would decide it",
		})
	}
	for _, l := range f.later {
		at := l.At.Location()
		v.Rivals = append(v.Rivals, incident.Rival{
			Signature: l.ID, Rank: l.Origin.Rank, Location: &at, WhyNot: "it was printed later than " + place(e),
		})
	}
	v.Collateral = q.collateral(f)
	v.Evidence = append(v.Evidence, q.launcherClaim(f)...)
	q.settle(&v, f, c)
	return v
}

// settle decides the status and the missing fact: a verdict whose rank, class or
// graph question is open is undetermined, and asks for exactly one fact.
func (q *Inquiry) settle(v *incident.Verdict, f *finding, c class) {
	rankOpen := q.Run.Several && f.origin.Rank == nil && !f.symmetric
	switch {
	case rankOpen && len(f.tied) > 0:
		v.Status, v.Confidence = incident.Undetermined, incident.Possible
		v.MissingFact = firstOfTied(f)
	case rankOpen:
		v.Status = incident.Undetermined
		v.Confidence = weaker(v.Confidence, incident.Likely)
		v.MissingFact = rankOf(f)
	case v.GraphPoolIsCause == incident.Unknown:
		v.Status = incident.Undetermined
		v.Confidence = weaker(v.Confidence, incident.Likely)
	}
	if v.MissingFact == nil && (v.Status == incident.Undetermined || len(v.Fixes) == 0) {
		v.MissingFact = q.missing(c.failure, f.event)
	}
	if v.Status == incident.Undetermined && !strings.HasPrefix(v.Title, "Undetermined") {
		v.Title = "Undetermined: " + lowerFirst(v.Title)
	}
}

func weaker(a, b incident.Confidence) incident.Confidence {
	order := []incident.Confidence{incident.Possible, incident.Likely, incident.Confirmed}
	if slices.Index(order, b) < slices.Index(order, a) {
		return b
	}
	return a
}

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
	for i := range f.Fixes {
		q.addFix(v, &f.Fixes[i], e)
	}
	v.Related = slices.Clone(f.Related)
	for _, r := range f.References {
		v.References = append(v.References, incident.Reference(r))
	}
	v.Summary, _ = fill(f.Summary, values(e))
}

func (q *Inquiry) addFix(v *incident.Verdict, f *signatures.Fix, e *message.Event) {
	if q.holds(f.When, e).holds != incident.Yes {
		return
	}
	vals := values(e)
	code, ok := fill(f.Code, vals)
	if !ok {
		return
	}
	v.Fixes = append(v.Fixes, incident.Fix{
		ID: f.ID, Title: f.Title, Stack: f.Stack, Why: f.Why, Code: code, Language: f.Language,
		Precondition: f.Precondition, Risk: f.Risk, Rollback: f.Rollback,
	})
	for _, c := range f.Verify {
		command, okC := fill(c.Command, vals)
		expect, okE := fill(c.Expect, vals)
		if okC && okE {
			v.Verify = append(v.Verify, incident.Verify{Command: command, Expect: expect})
		}
	}
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

func place(e *message.Event) string { return fmt.Sprintf("line %d", e.At.Number) }

func unknownTitle(e *message.Event) string {
	if e.ID == message.PythonException {
		text := strings.TrimSpace(e.At.Text)
		return "it raised " + line.Quote(cut(text, 120))
	}
	return line.Quote(cut(strings.TrimSpace(e.At.Text), 120))
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}

// unclassified answers the graph question for a failure that no entry describes:
// an exception of the user's own code is evidence for something else.
func (q *Inquiry) unclassified(e *message.Event) (incident.Answer, []incident.Evidence) {
	if e.ID != message.PythonException {
		return incident.Unknown, nil
	}
	return incident.No, []incident.Evidence{{
		Location: e.At.Location(), For: incident.Refutes,
		Says: "the exception is " + e.Traceback.Exception + ", not a memory or capture error",
	}}
}

func (q *Inquiry) title(f *finding, what string) string {
	switch {
	case f.symmetric:
		return fmt.Sprintf("All %d ranks failed alike: %s", len(f.tied)+1, what)
	case len(f.tied) > 0:
		var names []string
		for _, e := range append([]*message.Event{f.event}, f.tied...) {
			names = append(names, e.Origin.Name())
		}
		return fmt.Sprintf("%s failed at the same moment: %s", upperFirst(list(names)), what)
	}
	name := f.origin.Name()
	switch {
	case name == "":
		return upperFirst(what)
	case !q.Run.Several:
		return upperFirst(what)
	}
	return fmt.Sprintf("%s started it: %s", upperFirst(name), what)
}

func (q *Inquiry) summary(f *finding, what string, v *incident.Verdict) string {
	who := f.origin.Name()
	if who == "" || !q.Run.Several {
		who = "the process"
	}
	first := fmt.Sprintf("%s failed first, at %s: %s.", upperFirst(who), place(f.event), strings.TrimSuffix(what, "."))
	if len(f.tied) > 0 {
		first = fmt.Sprintf("%d processes failed by themselves within what the clock can tell, the first to print at %s: %s.", len(f.tied)+1, place(f.event), strings.TrimSuffix(what, "."))
	}
	return strings.TrimSpace(first + " " + v.Summary)
}

func list(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	switch len(names) {
	case 0:
		return "several processes"
	case 1:
		return names[0]
	}
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// lowerFirst leaves names such as NCCL as they are.
func lowerFirst(s string) string {
	if len(s) < 2 || s[1] < 'a' || s[1] > 'z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// collateral lists who only suffered, one entry for each process, in the order
// of the log.
func (q *Inquiry) collateral(f *finding) []incident.Collateral {
	initiators := []incident.Origin{}
	why := "it suffered from a failure elsewhere"
	if f != nil {
		if f.event != nil {
			initiators = append(initiators, f.event.Origin)
		}
		initiators = append(initiators, f.origin)
		for _, t := range f.tied {
			initiators = append(initiators, t.Origin)
		}
	}
	isInitiator := func(o incident.Origin) bool {
		return slices.ContainsFunc(initiators, func(i incident.Origin) bool { return i.Known() && timeline.Same(i, o) })
	}
	var out []incident.Collateral
	seen := map[string]bool{}
	add := func(e *message.Event, role incident.Role, why string) {
		key := e.Origin.Name()
		if key == "" || seen[key] || isInitiator(e.Origin) {
			return
		}
		seen[key] = true
		out = append(out, incident.Collateral{
			Rank: e.Origin.Rank, Role: role, Signature: e.ID, Location: e.Location(), Time: e.Time, Why: why,
		})
	}
	// Where the initiator's rank is not known, a rank whose failure is only told
	// of again may be the initiator.
	named := f != nil && (f.origin.Rank != nil || f.event != nil && f.event.Origin.Rank != nil)
	later := map[*message.Event]bool{}
	if f != nil {
		for _, e := range f.later {
			later[e] = true
		}
	}
	for _, e := range q.Run.Events {
		switch role := q.roles[e]; {
		case e.Message != nil && e.Message.Weak: // it tells of its own process
		case role == incident.RoleCollateral && len(q.Run.Tasks[e]) > 1:
			for _, rank := range q.Run.Tasks[e] {
				one := *e
				one.Origin = incident.Origin{Rank: &rank}
				add(&one, role, explain(e, why))
			}
		case role == incident.RoleCollateral:
			add(e, role, explain(e, why))
		case role == incident.RoleEcho && e.Origin.Rank != nil && named:
			add(e, role, explain(e, "it repeats the failure of another process"))
		case later[e]:
			add(e, incident.RoleCollateral, "it failed later than "+place(f.event))
		}
	}
	if f == nil || f.event == nil || !named {
		return out
	}
	// The rest of the group was ended with it: a launcher takes the processes of
	// its host down when one fails, an engine all of its workers.
	if end := q.groupEnd(f); end != nil {
		group := q.Run.Ranks
		if strings.HasPrefix(end.ID, "torchrun-") {
			group = q.Run.Host
		} else if f.origin.Rank == nil {
			group = nil
		}
		for _, rank := range group {
			o := incident.Origin{Rank: &rank}
			if name := o.Name(); !seen[name] && !isInitiator(o) {
				seen[name] = true
				out = append(out, incident.Collateral{
					Rank: &rank, Role: incident.RoleCollateral, Signature: end.ID, Location: end.Location(), Time: end.Time,
					Why: "the whole group was ended",
				})
			}
		}
	}
	return out
}

// groupEnd returns the first line that shows that the job as a whole went down:
// something that another process than the initiator printed of its failure.
func (q *Inquiry) groupEnd(f *finding) *message.Event {
	for _, e := range q.Run.Events {
		if role := q.roles[e]; (role == incident.RoleEcho || role == incident.RoleCollateral) && !timeline.Same(e.At.Origin, f.event.At.Origin) {
			return e
		}
	}
	return nil
}

// explain says what happened to a victim: the message's own sentence.
func explain(e *message.Event, fallback string) string {
	if e.Message != nil {
		if says, ok := fill(e.Message.Says, values(e)); ok && says != "" {
			return says
		}
	}
	return fallback
}

// launcherClaim compares torchrun's "root cause" with the finding: it is the
// exit that one agent saw first, to the second, and a claim to check.
func (q *Inquiry) launcherClaim(f *finding) []incident.Evidence {
	if f.origin.Rank == nil {
		return nil
	}
	claimed := false
	for _, e := range q.Run.Events {
		if e.ID == "torchrun-root-cause" {
			claimed = true
			continue
		}
		rank, ok := e.Facts["rank"]
		if !claimed || !ok || e.Message == nil || e.Message.About != "named" {
			continue
		}
		if int(rank.Int) == *f.origin.Rank {
			return []incident.Evidence{{Location: e.At.Location(), For: incident.Supports, Says: fmt.Sprintf("the launcher's table blames rank %d too", rank.Int)}}
		}
		return []incident.Evidence{{Location: e.At.Location(), For: incident.Neutral, Says: fmt.Sprintf("the launcher's table blames rank %d, whose exit it saw first; that is not who failed first: see %s", rank.Int, place(f.event))}}
	}
	return nil
}

// grew is the verdict of a log in which nothing failed but memory rises with
// every capture.
func (q *Inquiry) grew() (incident.Verdict, bool) {
	for _, reserved := range q.Tracks {
		if reserved.Metric != memory.Reserved {
			continue
		}
		var allocated *memory.Track
		for _, t := range q.Tracks {
			if t.Metric == memory.Allocated && timeline.Same(t.Origin, reserved.Origin) {
				allocated = t
			}
		}
		g := memory.Grown(reserved, allocated)
		if g == nil || !g.Captures {
			continue
		}
		var best *signatures.State
		var failure *signatures.Failure
		for _, f := range q.Set.Failures() {
			for i := range f.States {
				s := &f.States[i]
				if s.Growth && (best == nil || s.Rank > best.Rank) && q.holds(s.When, nil).holds == incident.Yes {
					best, failure = s, f
				}
			}
		}
		if best != nil {
			return q.growth(failure, g, best), true
		}
	}
	return incident.Verdict{}, false
}

// warned is the verdict of a log in which nothing failed, but a line warns of a
// failure that its file describes.
func (q *Inquiry) warned() (incident.Verdict, bool) {
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleSymptom {
			continue
		}
		c := q.classify(e)
		if c.failure == nil {
			continue
		}
		v := incident.Verdict{Status: incident.Undetermined, Signature: &c.failure.ID, Confidence: weaker(c.confidence, incident.Likely)}
		q.describe(&v, c.failure, e)
		origin := e.Origin
		for _, other := range q.Run.Events {
			if other.ID == e.ID && !timeline.Same(other.Origin, e.Origin) {
				origin = incident.Origin{} // several warn: it is nobody's alone
			}
		}
		v.Initiator = q.person(e, origin)
		what, _ := fill(c.failure.Title, values(e))
		v.Title = "Undetermined: nothing failed in this log, but it warns that " + what
		v.MissingFact = q.missing(c.failure, e)
		return v, true
	}
	return incident.Verdict{}, false
}

func (q *Inquiry) growth(f *signatures.Failure, g *memory.Growth, s *signatures.State) incident.Verdict {
	first, last := g.Rises[0], g.Rises[len(g.Rises)-1]
	v := incident.Verdict{Status: incident.Diagnosed, Signature: &f.ID, Confidence: incident.Likely}
	if s.Confidence != "" {
		v.Confidence = incident.Confidence(s.Confidence)
	}
	q.describe(&v, f, nil)
	v.GraphPoolIsCause = incident.Yes
	says := fmt.Sprintf("reserved memory rose at each of %d captures, from %s to %s, while live memory did not",
		len(g.Rises)-1, memory.Format(first.Size.Bytes), memory.Format(last.Size.Bytes))
	v.Evidence = append([]incident.Evidence{{Location: last.At, Says: says, For: incident.Supports}}, v.Evidence...)
	v.Title = "Reserved memory grows with every graph capture"
	v.Summary = strings.TrimSpace(upperFirst(says) + ". " + v.Summary)
	o := g.Reserved.Origin
	if o.Rank == nil && !q.Run.Several {
		zero := 0
		o.Rank, o.RankFrom = &zero, "the only process"
	}
	at := g.Rises[min(1, len(g.Rises)-1)].At
	v.Initiator = &incident.Initiator{
		Rank: o.Rank, LocalRank: o.LocalRank, PID: o.PID, RankFrom: o.RankFrom,
		Location: &at, StatedAt: &at, Time: first.Stamp.Time(), FrameTrusted: true,
	}
	if len(v.Fixes) == 0 {
		v.MissingFact = q.missing(f, nil)
	}
	return v
}

// waited is the verdict where all that speak only waited for someone else.
func (q *Inquiry) waited(a *absence) incident.Verdict {
	v := incident.Verdict{Status: incident.Undetermined, Confidence: incident.Possible, GraphPoolIsCause: incident.Unknown}
	c := q.classify(a.first)
	if c.failure != nil {
		v.Signature = &c.failure.ID
		q.describe(&v, c.failure, a.first)
		v.Fixes, v.Verify = nil, nil // nobody knows yet what to fix
	}
	v.Evidence = append(v.Evidence, incident.Evidence{Location: a.first.Location(), For: incident.Neutral, Says: "the first line that tells of the failure, printed by a victim"})
	var f *finding
	who := "no rank"
	if a.rank != nil {
		o := incident.Origin{Rank: a.rank, RankFrom: "absence"}
		f = &finding{origin: o}
		v.Initiator = &incident.Initiator{Rank: a.rank, RankFrom: "absence", FrameTrusted: true}
		who = fmt.Sprintf("rank %d", *a.rank)
		at := a.first.Location()
		if a.at != nil {
			at = a.at.Location()
		}
		v.Evidence = append(v.Evidence, incident.Evidence{Location: at, For: incident.Supports, Says: a.why})
	}
	v.Collateral = q.collateral(f)
	if a.rank == nil && q.allWaited() {
		// The one to blame is among those that waited: nobody is known to have
		// only suffered.
		v.Collateral = nil
	}
	if a.rank != nil {
		v.Title = fmt.Sprintf("Undetermined: %s only waited; suspect: %s", waiters(v.Collateral), who)
		v.Summary = upperFirst(a.why) + ". What it was doing is not in this log."
	} else {
		v.Title = fmt.Sprintf("Undetermined: %s only waited, and nothing in this log says for whom", waiters(v.Collateral))
		v.Summary = "Every line about a failure was printed by a process that suffered from it. The failure itself is not in this log."
	}
	v.MissingFact = q.missing(c.failure, a.first)
	if a.rank != nil {
		v.MissingFact = silentLog(*a.rank)
	}
	return v
}

func waiters(c []incident.Collateral) string {
	var ranks []int
	for _, x := range c {
		if x.Rank != nil {
			ranks = append(ranks, *x.Rank)
		}
	}
	if len(ranks) == 0 {
		return "the processes seen"
	}
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + incident.Ranges(ranks)
}

// repeatedOnly is the verdict where only wrappers speak: they repeat a failure
// whose own lines are not here.
func (q *Inquiry) repeatedOnly() (incident.Verdict, bool) {
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleEcho {
			continue
		}
		at := e.Location()
		v := incident.Verdict{
			Status: incident.Undetermined, Confidence: incident.Possible, GraphPoolIsCause: incident.Unknown,
			Title:   "Undetermined: this log only repeats a failure that was printed elsewhere",
			Summary: "The lines here come from a parent process. The process that failed printed its own traceback above them, or in another file.",
			Evidence: []incident.Evidence{{
				Location: at, For: incident.Neutral, Says: explain(e, "it repeats the failure of another process"),
			}},
			MissingFact: linesAbove(),
			Collateral:  q.collateral(nil),
		}
		return v, true
	}
	return incident.Verdict{}, false
}
