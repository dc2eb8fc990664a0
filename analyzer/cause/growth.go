package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// grew is the verdict of a log in which nothing failed but memory rises: with
// every capture, together with live tensors, or for a reason that no line tells.
// One rise at the first capture and none later is healthy.
func (q *Inquiry) grew() (incident.Verdict, bool) {
	var held, open []*memory.Growth
	live, captures := q.liveTensors(), q.captureLines()
	for _, level := range q.Tracks {
		if len(level.Readings) == 0 || level.Readings[0].Card {
			continue
		}
		g := grown(level, live)
		switch {
		case g == nil:
		case g.Live == nil && atCaptures(g, captures):
			held = addProcess(held, g)
		case g.Recurs:
			open = addProcess(open, g)
		}
	}
	if len(held) > 0 {
		if f, s := q.growthFailure(); f != nil {
			return q.growth(f, s, held), true
		}
	}
	if len(open) == 0 || q.speaksOtherwise() {
		return incident.Verdict{}, false
	}
	return q.openGrowth(open), true
}

// grown asks for growth of the levels that graph pools can raise.
func grown(level *memory.Track, live map[incident.Key][]*memory.Track) *memory.Growth {
	switch level.Metric {
	case memory.Reserved, memory.PrivatePools, memory.Available, memory.Free:
		return memory.Grown(level, liveBeside(level, live))
	}
	return nil
}

// addProcess adds growth of a process that is not in the list yet.
func addProcess(list []*memory.Growth, g *memory.Growth) []*memory.Growth {
	for _, other := range list {
		if timeline.Same(other.Track.Origin, g.Track.Origin) {
			return list
		}
	}
	return append(list, g)
}

// liveTensors are the series of live tensors, by process.
func (q *Inquiry) liveTensors() map[incident.Key][]*memory.Track {
	live := map[incident.Key][]*memory.Track{}
	for _, t := range q.Tracks {
		if t.Metric == memory.Allocated && len(t.Readings) > 0 {
			who := timeline.Who(t.Origin)
			live[who] = append(live[who], t)
		}
	}
	return live
}

// liveBeside returns the series of live tensors of the same process: of the same
// format, else of any that prints bytes, whose GB may be a few percent off.
func liveBeside(level *memory.Track, live map[incident.Key][]*memory.Track) *memory.Track {
	var other *memory.Track
	for _, t := range live[timeline.Who(level.Origin)] {
		if t.Format == level.Format {
			return t
		}
		if other == nil && !t.Readings[0].NoUnit && !level.Readings[0].NoUnit {
			other = t
		}
	}
	return other
}

// captureLines are the events that tell of captures.
func (q *Inquiry) captureLines() []*message.Event {
	var out []*message.Event
	for _, e := range q.Run.Events {
		if captureMark(e) != noMark {
			out = append(out, e)
		}
	}
	return out
}

// minCaptures is at how many captures memory must rise: once, at the first, is
// healthy.
const minCaptures = 3

// atCaptures reports whether memory rose at captures: the lines that print it say
// so, it is the memory of graph pools, or a capture of the process stands in front
// of each rise while live tensors, which the log prints, stay.
func atCaptures(g *memory.Growth, captures []*message.Event) bool {
	if g.Captures || g.Track.Metric == memory.PrivatePools && g.Recurs {
		return true
	}
	if g.Allocated == nil {
		return false
	}
	n := 0
	for i := 1; i < len(g.Rises); i++ {
		between := func(e *message.Event) bool { return stands(e, g.Track.Origin, g.Rises[i-1].At, g.Rises[i].At) }
		if slices.ContainsFunc(captures, between) {
			n++
		}
	}
	return n >= minCaptures
}

// stands reports whether an event of the process stands between two lines of a file.
func stands(e *message.Event, o incident.Origin, from, to incident.Location) bool {
	at := e.At.Location()
	if at.File != to.File || from.File != to.File || at.Offset <= from.Offset || at.Offset >= to.Offset {
		return false
	}
	return !e.Origin.Known() || !o.Known() || timeline.Same(e.Origin, o)
}

// growthFailure finds the failure whose file says that growth states it.
func (q *Inquiry) growthFailure() (*signatures.Failure, *signatures.State) {
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
	return failure, best
}

// speaksOtherwise reports whether a line warns or repeats a failure: that tells
// more than memory that rises for no reason told.
func (q *Inquiry) speaksOtherwise() bool {
	if _, ok := q.warned(); ok {
		return true
	}
	_, ok := q.repeatedOnly()
	return ok
}

// growth is the verdict where memory rose at captures and live tensors did not.
func (q *Inquiry) growth(f *signatures.Failure, s *signatures.State, held []*memory.Growth) incident.Verdict {
	g := held[0]
	v := incident.Verdict{Status: incident.Diagnosed, Signature: &f.ID, Confidence: incident.Likely}
	if s.Confidence != "" {
		v.Confidence = incident.Confidence(s.Confidence)
	}
	q.describe(&v, f, nil)
	v.GraphPoolIsCause = incident.Yes
	says := fmt.Sprintf("%s at each of %d captures, %s", moved(g.Track), len(g.Rises)-1, fromTo(g.Rises))
	switch {
	case g.Track.Metric == memory.PrivatePools:
		says = fmt.Sprintf("%s at %d readings, %s", moved(g.Track), len(g.Rises)-1, fromTo(g.Rises))
	case g.Allocated != nil:
		says += ", while live memory did not"
	default:
		says += "; no line prints live memory"
	}
	last := g.Rises[len(g.Rises)-1]
	v.Evidence = append([]incident.Evidence{{Location: last.At, Says: says, For: incident.Supports}}, v.Evidence...)
	v.Title = upperFirst(grows(g.Track))
	if g.Track.Metric != memory.PrivatePools {
		v.Title += " with every graph capture"
	}
	v.Summary = strings.TrimSpace(upperFirst(says) + ". " + v.Summary)
	q.ofProcesses(&v, held, q.telling(g))
	if v.MissingFact == nil && len(v.Fixes) == 0 {
		v.MissingFact = q.missing(f, nil)
	}
	return v
}

// telling is the rise that first tells of growth. The one at a process's first capture
// is healthy: if the series begins before it, that is the next one.
func (q *Inquiry) telling(g *memory.Growth) memory.Reading {
	first := g.Rises[0]
	captured := first.Captured || g.Track.Metric == memory.PrivatePools || slices.ContainsFunc(q.captureLines(), func(e *message.Event) bool {
		at := e.At.Location()
		return at.File == first.At.File && at.Offset < first.At.Offset && (!e.Origin.Known() || timeline.Same(e.Origin, g.Track.Origin))
	})
	if captured || len(g.Rises) < 3 {
		return g.Rises[min(1, len(g.Rises)-1)]
	}
	return g.Rises[2]
}

// openGrowth is the verdict where memory rises and no line shows that graph pools
// hold it: live tensors rise as well, or no capture is seen. Which pools it is in
// the log does not tell.
func (q *Inquiry) openGrowth(open []*memory.Growth) incident.Verdict {
	g := open[0]
	rose := fmt.Sprintf("%s at %d readings, %s", moved(g.Track), len(g.Rises)-1, fromTo(g.Rises))
	last := g.Track.Readings[len(g.Track.Readings)-1]
	v := incident.Verdict{
		Status: incident.Undetermined, Confidence: incident.Possible, GraphPoolIsCause: incident.Unknown,
		Evidence: []incident.Evidence{{Location: last.At, Says: rose, For: incident.Supports}},
	}
	if g.Live != nil {
		live := g.Live.Readings
		says := fmt.Sprintf("live tensors rose with it, %s: memory in use grows, not what graph pools hold idle", fromTo(live))
		v.Evidence = append(v.Evidence, incident.Evidence{Location: live[len(live)-1].At, Says: says, For: incident.Refutes})
		v.Title = "Undetermined: live tensors grow, and idle graph pools are not what grows"
		v.Summary = fmt.Sprintf("%s, and %s. Something keeps tensors alive; which pools they are in, this log does not tell.", upperFirst(rose), says)
	} else {
		v.Title = fmt.Sprintf("Undetermined: %s, and no line tells of a graph capture at the rises", grows(g.Track))
		v.Summary = fmt.Sprintf("%s. No line tells of a capture between them, so that graph pools are one explanation among others.", upperFirst(rose))
		if g.Allocated == nil {
			v.Summary += " No line prints live memory either."
		}
	}
	v.MissingFact = poolsOverSteps(last)
	q.ofProcesses(&v, open, last)
	return v
}

// poolsOverSteps asks what would tell where memory that grows lies.
func poolsOverSteps(last memory.Reading) *incident.MissingFact {
	from, to := "k", "k+100"
	if last.Step != nil {
		from, to = fmt.Sprint(*last.Step), fmt.Sprint(*last.Step+100)
	}
	return &incident.MissingFact{
		ID:   "per-pool-bytes",
		Fact: fmt.Sprintf("the bytes of each allocator pool, reserved and live, at step %s and at step %s", from, to),
		How:  poolBytes + ` at both steps, and the same with "allocated_size" for what is live: (0, 0) is no graph's pool`,
	}
}

// ofProcesses says whose memory grows, and shows the reading. Where that of several
// processes grows they share the cause, and none is the first.
func (q *Inquiry) ofProcesses(v *incident.Verdict, grown []*memory.Growth, shown memory.Reading) {
	v.Initiator = q.grower(grown[0].Track.Origin, shown)
	if len(grown) > 1 {
		v.Initiator.Rank, v.Initiator.RankFrom = nil, ""
		for _, g := range grown[1:] {
			v.CoInitiators = append(v.CoInitiators, *q.grower(g.Track.Origin, q.telling(g)))
		}
		return
	}
	if q.Run.Several && v.Initiator.Rank == nil {
		v.Status, v.Confidence = incident.Undetermined, atMostLikely(v.Confidence)
		if !strings.HasPrefix(v.Title, "Undetermined") {
			v.Title = "Undetermined: " + lowerFirst(v.Title)
		}
		if v.MissingFact == nil {
			v.MissingFact = &incident.MissingFact{
				ID:   "rank-map",
				Fact: fmt.Sprintf("which rank printed line %d", shown.At.Line),
				How:  "torchrun --tee 3, or the files LOG_DIR/*/attempt_*/RANK/stdout.log (torchrun --log-dir LOG_DIR --redirects 3)",
			}
		}
	}
}

// grower is the process whose memory grows.
func (q *Inquiry) grower(o incident.Origin, shown memory.Reading) *incident.Initiator {
	if o.Rank == nil && !q.Run.Several {
		zero := 0
		o.Rank, o.RankFrom = &zero, "the only process"
	}
	at := shown.At
	p := &incident.Initiator{
		Rank: o.Rank, LocalRank: o.LocalRank, PID: o.PID, RankFrom: o.RankFrom,
		Location: &at, StatedAt: &at, Time: shown.Stamp.Time(), FrameTrusted: true,
	}
	if o.Host != "" {
		p.Host = &o.Host
	}
	if o.Process != "" {
		p.Process = &o.Process
	}
	return p
}

// called is how a series is named in a sentence.
func called(t *memory.Track) string {
	switch t.Metric {
	case memory.PrivatePools:
		return "the memory of graph pools"
	case memory.Available:
		return "available memory"
	case memory.Free:
		return "free memory"
	}
	return "reserved memory"
}

func falls(t *memory.Track) bool { return t.Metric == memory.Available || t.Metric == memory.Free }

func moved(t *memory.Track) string {
	if falls(t) {
		return called(t) + " fell"
	}
	return called(t) + " rose"
}

func grows(t *memory.Track) string {
	if falls(t) {
		return called(t) + " shrinks"
	}
	return called(t) + " grows"
}

// fromTo tells the first and the last of the readings.
func fromTo(readings []memory.Reading) string {
	first, last := readings[0], readings[len(readings)-1]
	if first.NoUnit {
		return fmt.Sprintf("from %s to %s (no unit is printed)", first.Printed, last.Printed)
	}
	return fmt.Sprintf("from %s to %s", memory.Format(first.Size.Bytes), memory.Format(last.Size.Bytes))
}
