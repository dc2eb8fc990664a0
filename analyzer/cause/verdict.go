package cause

import (
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
)

// verdict takes the first kind of answer that the log supports.
func (q *Inquiry) verdict() (incident.Verdict, *message.Event) {
	stop := q.stopped()
	if f := q.initiator(); f != nil && !after(f, stop) {
		if checksMemory(f.event) {
			return q.checked(f), f.event
		}
		return q.failed(f), f.event
	}
	if stop != nil {
		return q.endedVerdict(stop), nil
	}
	if a := q.absent(); a != nil {
		return q.waited(a), nil
	}
	for _, quiet := range []func() (incident.Verdict, bool){q.grew, q.repeatedOnly, q.warned} {
		if v, ok := quiet(); ok {
			return v, nil
		}
	}
	return incident.Verdict{
		Status: incident.NoFailureFound, Title: "no failure found",
		Summary:          "No line of this log states a failure that graphtrap knows, and no traceback ends in an exception.",
		GraphPoolIsCause: incident.Unknown, Confidence: incident.Possible,
	}, nil
}

// endedVerdict is about a run that was ended from outside. What it showed before,
// memory that grows or a warning, is the better answer: somebody ended it because
// of that.
func (q *Inquiry) endedVerdict(stop *message.Event) incident.Verdict {
	for _, quiet := range []func() (incident.Verdict, bool){q.grew, q.warned} {
		if v, ok := quiet(); ok {
			return v
		}
	}
	return q.stoppedVerdict(stop)
}

// failed is the verdict where a line states the initiating failure.
func (q *Inquiry) failed(f *finding) incident.Verdict {
	e := f.event
	c := q.classify(e)
	q.explainClass(c, e)
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
	v.Rivals = append(v.Rivals, q.printedBefore(f)...)
	v.Collateral = q.collateral(f)
	v.Evidence = append(v.Evidence, q.launcherClaim(f)...)
	if len(v.Evidence) == 0 { // every verdict points at a line
		v.Evidence = allThatIsSaid(e)
	}
	q.settle(&v, f, c)
	return v
}

// allThatIsSaid is the evidence of an event that nothing else bears out.
func allThatIsSaid(e *message.Event) []incident.Evidence {
	return []incident.Evidence{{
		Location: e.At.Location(), For: incident.Neutral, Says: lowerFirst(strings.TrimSuffix(explain(e, "this is all that the log says of it"), ".")),
	}}
}

// explainClass notes which failure the line states, and what was asked for it.
func (q *Inquiry) explainClass(c class, e *message.Event) {
	for _, step := range c.steps {
		q.because(rule(step.Rule), step.Location, "%s", step.Says)
	}
	if c.failure == nil {
		q.because(ruleClass, where(e), "no entry describes what %s states (%s)", place(e), e.ID)
		return
	}
	q.because(ruleClass, where(e), "%s is %s (%s)", place(e), c.failure.ID, e.ID)
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
		v.Confidence = atMostLikely(v.Confidence)
		v.MissingFact = rankOf(f)
	case v.GraphPoolIsCause == incident.Unknown:
		v.Status = incident.Undetermined
		v.Confidence = atMostLikely(v.Confidence)
	}
	if v.MissingFact == nil && (v.Status == incident.Undetermined || len(v.Fixes) == 0) {
		v.MissingFact = q.missing(c.failure, f.event)
	}
	if v.Status == incident.Undetermined && !strings.HasPrefix(v.Title, "Undetermined") {
		v.Title = "Undetermined: " + lowerFirst(v.Title)
	}
}

// printedBefore tells why the first victim that printed before the initiator is
// not the one.
func (q *Inquiry) printedBefore(f *finding) []incident.Rival {
	for _, e := range q.Run.Events {
		if !e.At.Before(f.event.At) {
			break
		}
		if q.roles[e] != incident.RoleCollateral || timeline.Same(e.Origin, f.event.Origin) {
			continue
		}
		return []incident.Rival{{
			Signature: e.ID, Rank: e.Origin.Rank, Location: where(e),
			WhyNot: "it printed first, but " + lowerFirst(explain(e, "it only tells of another process")),
		}}
	}
	return nil
}

// atMostLikely takes back what is more than likely.
func atMostLikely(c incident.Confidence) incident.Confidence {
	if c == incident.Confirmed {
		return incident.Likely
	}
	return c
}

// unclassified answers the graph question for a failure that no entry describes: an
// exception, or a message that names another trouble, is evidence for something
// else. A bare exit code or a library's status is evidence for nothing.
func (q *Inquiry) unclassified(e *message.Event) (incident.Answer, []incident.Evidence) {
	says := "the message names something else than a lack of GPU memory"
	switch {
	case e.ID == message.PythonException:
		says = "the exception is " + e.Traceback.Exception + ", not a memory or capture error"
	case e.Message.Weak || e.Message.Vague:
		return incident.Unknown, allThatIsSaid(e)
	}
	return incident.No, []incident.Evidence{{Location: e.At.Location(), For: incident.Refutes, Says: says}}
}
