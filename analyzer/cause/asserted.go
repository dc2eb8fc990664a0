package cause

import (
	"regexp"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// A check of memory that failed: a test or a guard of the program compared figures
// and raised. Its exception says nothing of the cause; the figures that the log
// prints do, as in a log in which nothing failed.

var memoryWords = regexp.MustCompile(`(?i)\b(?:reserved|allocated|memory|[GM]i?B|pools?)\b`)

// checksMemory reports whether an event is an assertion about memory.
//
//	AssertionError: reserved 72.06 GiB after graph teardown, limit 70.00 GiB (allocated 20.34 GiB, 0 CUDAGraph objects alive)
func checksMemory(e *message.Event) bool {
	return e.ID == message.PythonException && strings.HasSuffix(e.Traceback.Exception, "AssertionError") && memoryWords.MatchString(e.At.Text)
}

// checked is the verdict about a failed check of memory, where the log shows how
// memory went. Without that the graph question stays open.
func (q *Inquiry) checked(f *finding) incident.Verdict {
	v, ok := q.grew()
	if !ok {
		v = q.failed(f)
		v.GraphPoolIsCause = incident.Unknown
		v.Status, v.Confidence = incident.Undetermined, atMostLikely(v.Confidence)
		v.MissingFact = poolsAtCheck(f.event)
		return v
	}
	q.because(ruleChecked, where(f.event), "%s only says that a check of memory failed; the figures before it tell why", place(f.event))
	v.Initiator = q.person(f.event, f.origin)
	v.Collateral = q.collateral(f)
	v.Evidence = append(v.Evidence, incident.Evidence{
		Location: f.event.At.Location(), For: incident.Neutral, Says: "the program's own check of memory failed here",
	})
	v.Evidence = append(v.Evidence, q.launcherClaim(f)...)
	return v
}
