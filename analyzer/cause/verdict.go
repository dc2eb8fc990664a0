package cause

import (
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
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

// unclassified answers the graph question for a failure that no entry describes: an
// exception, or a message that names another trouble, is evidence for something
// else. A bare exit code or a library's status is evidence for nothing.
func (q *Inquiry) unclassified(e *message.Event) (incident.Answer, []incident.Evidence) {
	says := "the message names another failure than a lack of memory"
	switch {
	case e.ID == message.PythonException:
		says = "the exception is " + e.Traceback.Exception + ", not a memory or capture error"
	case e.Message.Weak || e.Message.Vague:
		return incident.Unknown, nil
	}
	return incident.No, []incident.Evidence{{Location: e.At.Location(), For: incident.Refutes, Says: says}}
}
