package cause

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/signatures"
)

// class is the failure that an event states.
type class struct {
	failure    *signatures.Failure // nil: none that is known
	confidence incident.Confidence
	// steps are the conditions that were asked.
	steps []incident.Reason
	// doubt is a more special failure whose condition the log does not decide.
	doubt *signatures.Failure
}

// classify finds the failure that the event states: of the entries whose
// condition holds, the one of the highest rank.
func (q *Inquiry) classify(e *message.Event) class {
	var c class
	best, doubt := -1, -1
	for _, f := range q.Set.Failures() {
		for i := range f.States {
			s := &f.States[i]
			if s.Message != e.ID {
				continue
			}
			p := q.holds(s.When, e)
			if s.When != nil {
				c.steps = append(c.steps, incident.Reason{
					Rule: string(ruleClass), Location: p.at,
					Says: fmt.Sprintf("%s, if %s: %s", f.ID, words(s.When), answerWord(p.holds)),
				})
			}
			switch p.holds {
			case incident.Yes:
				if s.Rank > best {
					best, c.failure = s.Rank, f
					c.confidence = incident.Confirmed
					if s.Confidence != "" {
						c.confidence = incident.Confidence(s.Confidence)
					}
				}
			case incident.Unknown:
				if s.Rank > doubt {
					doubt, c.doubt = s.Rank, f
				}
			}
		}
	}
	if doubt <= best {
		c.doubt = nil
	}
	return c
}

// graphPool answers whether graph memory is the cause, by the failure's rulings
// in order. An undecided condition in front of the one that holds leaves the
// question open unless both say the same.
func (q *Inquiry) graphPool(f *signatures.Failure, e *message.Event) (incident.Answer, []incident.Evidence) {
	open := false
	var opened incident.Answer
	for i := range f.GraphPool {
		r := &f.GraphPool[i]
		p := q.holds(r.When, e)
		q.because(ruleGraphs, p.at, "%s, if %s: %s", r.Is, words(r.When), answerWord(p.holds))
		switch p.holds {
		case incident.Unknown:
			if !open {
				open, opened = true, incident.Answer(r.Is)
			} else if opened != incident.Answer(r.Is) {
				return incident.Unknown, nil
			}
		case incident.Yes:
			is := incident.Answer(r.Is)
			if open && opened != is {
				return incident.Unknown, nil
			}
			return is, q.evidence(r.Says, weight(is), p, e)
		}
	}
	return incident.Unknown, nil
}

func weight(a incident.Answer) incident.Weight {
	switch a {
	case incident.Yes:
		return incident.Supports
	case incident.No:
		return incident.Refutes
	}
	return incident.Neutral
}

// evidence makes a claim with its line: the condition's own, or the event's.
func (q *Inquiry) evidence(says string, w incident.Weight, p proof, e *message.Event) []incident.Evidence {
	text, ok := fill(says, values(e))
	if !ok || text == "" {
		return nil
	}
	at := p.at
	if at == nil {
		if e == nil {
			return nil // a claim without a line is none
		}
		l := e.At.Location()
		at = &l
	}
	if p.says != "" {
		text += " (" + p.says + ")"
	}
	return []incident.Evidence{{Location: *at, Says: text, For: w}}
}
