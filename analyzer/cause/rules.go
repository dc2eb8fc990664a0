package cause

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// A rule is one step of the reasoning, by the name that `diagnose --why` prints.
// rules_test.go holds for each the run that it is for and the one that would
// mislead it.
type rule string

const (
	// ruleConsequences: what tells of another process's end, repeats a failure or
	// gives advice starts nothing. For every run. Misled where only a wrapper
	// speaks of the failure; then nothing is decided.
	ruleConsequences rule = "consequences are set aside"
	// ruleOnly: one process alone failed by itself; the order of printing does not
	// matter, as victims often print first. Misled where another host's log is
	// missing; so confidence drops where ranks of the job are not in the log.
	ruleOnly rule = "only one failed by itself"
	// ruleEarliest: several failed by themselves, and one clock puts one first.
	// Misled by clocks of two hosts and by times of one second; those tie.
	ruleEarliest rule = "earliest by one clock"
	// ruleTie: several failed by themselves and no clock tells them apart.
	ruleTie rule = "nobody is known to be first"
	// ruleOutside: what the kernel, the driver or the scheduler reports of a
	// process beats what processes print at the same moment. Misled by reports of
	// a program's own fault (Xid 13, 31, 43) and of a clean-up (45); those are weak.
	ruleOutside rule = "confirmed from outside"
	// ruleKnown: of failures at one moment, an exception that no signature knows is
	// the likelier consequence.
	ruleKnown rule = "a known failure before an unknown exception"
	// ruleAlike: ranks that fail alike at one moment share their cause (shapes,
	// configuration, a driver): there is no first one to find.
	ruleAlike rule = "all failed alike"
	// ruleUnlabelled: lines without a rank are those of the only rank that prints
	// the same failure elsewhere. Misled where that rank prints a whole traceback
	// with its rank; then these lines are another's.
	ruleUnlabelled rule = "lines without a rank"
	// ruleLauncher: the launcher saw one worker end by itself, or had to end all
	// the others, or all others tell that they waited. Misled where the guilty
	// process lingers, and by exits behind the end of a scheduler's step, so it
	// only names a failure whose lines carry no rank.
	ruleLauncher rule = "what the launcher did"
	// ruleTable: torchrun's "root cause" is the first exit that one agent saw, to
	// the second: a claim to compare. It counts only where it is an exit with code
	// 1 and nobody's own lines are in the log.
	ruleTable rule = "the launcher's table"
	// ruleStopped: the run was ended from outside (an interrupt, a time limit) and
	// nobody had told of a failure. Misled by a hang, which ends like this.
	ruleStopped rule = "ended from outside"
	// ruleReported: PyTorch's desync report or Horovod's stall inspector names the
	// rank that did not come. Misled where that rank waits for a third one.
	ruleReported rule = "named as absent"
	// ruleLagging: one rank enqueued less work than all the others, which agree.
	// Misled by the counters of sub-groups, which do not compare, and by two ranks
	// alone, of which either may have left the plan.
	ruleLagging rule = "least work enqueued"
	// ruleSplit: at one sequence number ranks wait in different collectives: they
	// run different code. The fewer ones are suspected; of as many, those that wait
	// with a single element, as for a flag or a metric, while others reduce tensors.
	ruleSplit rule = "different collectives at one number"
	// ruleSilent: one rank, or a few of many, said nothing while all others reported a
	// timeout. Misled by a log that shows some ranks only; so the job's size must be known,
	// and a silent rank is never more than suspected.
	ruleSilent rule = "the silent rank"
	// rulePeers: all victims name one process or host as the peer that went away.
	// Misled where that peer is a victim itself; then the chain is followed.
	rulePeers rule = "the peer that victims name"
	// rulePath: two hosts report failed transfers and name each other, so that the
	// network between them failed. Misled where a host went down while its last
	// reports were printed; its ranks stay suspects.
	rulePath rule = "two hosts that blame each other"
	// ruleNothingPending: all ranks had completed what they enqueued; what holds
	// them is not a collective.
	ruleNothingPending rule = "nothing was pending"
	// ruleChecked: an assertion about memory is the program's own check; how memory
	// went before it tells the cause.
	ruleChecked rule = "a check of memory"
	// ruleClass: which failure it is, by the conditions in its file.
	ruleClass rule = "which failure"
	// ruleGraphs: whether graph memory is the cause, asked of the initiator only, by
	// the rulings in the failure's file, in their order.
	ruleGraphs rule = "is it graph memory"
)

// MaxReasons bounds the steps kept of one verdict.
const MaxReasons = 100

// because notes a step of the reasoning, with the line that it rests on.
func (q *Inquiry) because(r rule, at *incident.Location, format string, args ...any) {
	if len(q.reasons) < MaxReasons {
		q.reasons = append(q.reasons, incident.Reason{Rule: string(r), Says: fmt.Sprintf(format, args...), Location: at})
	}
}

func where(e *message.Event) *incident.Location {
	if e == nil {
		return nil
	}
	at := e.Location()
	return &at
}
