package timeline

import (
	"slices"
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

// Episode is one attempt of the run: its events, and how it ended.
type Episode struct {
	incident.Episode
	Events []*message.Event
}

// Attempts are what divides a log into episodes.
type Attempts struct {
	// Files are the attempts that the files' paths name, by file.
	Files []int
	// Lines are the lengths of the files, in lines.
	Lines []int64
}

// Episodes divides the events at the lines where a launcher starts everything
// again, and by the attempts that paths name. There is always one, and they come in
// order.
//
//	[default] Worker group FAILED. 2/3 attempts left; will restart worker group
func Episodes(events []*message.Event, attempts Attempts) []Episode {
	var list []Episode
	index := map[int]int{}
	at := func(attempt int, e *message.Event) *Episode {
		i, ok := index[attempt]
		if !ok {
			i = len(list)
			index[attempt] = i
			list = append(list, Episode{Episode: incident.Episode{Attempt: attempt, FirstLine: e.At.Number, Outcome: incident.OutcomeUnknown}})
		}
		return &list[i]
	}
	restarts, file := 0, -1
	for _, e := range events {
		if e.At.File != file {
			restarts, file = 0, e.At.File
		}
		attempt := restarts
		if e.At.File < len(attempts.Files) {
			attempt += attempts.Files[e.At.File]
		}
		ep := at(attempt, e)
		ep.Events = append(ep.Events, e)
		ep.LastLine = e.At.Number
		switch e.Role {
		case incident.RoleInitiator, incident.RoleCollateral, incident.RoleEcho:
			ep.Outcome = incident.Failed
		}
		if e.ID == "torchrun-restart" {
			restarts++
		}
	}
	if len(list) == 0 {
		list = append(list, Episode{Episode: incident.Episode{Outcome: incident.OutcomeUnknown}})
	}
	if len(attempts.Lines) == 1 { // one file: the episodes cover all of its lines
		list[0].FirstLine = min(1, attempts.Lines[0])
		for i := range list[:len(list)-1] {
			list[i].LastLine = list[i+1].FirstLine - 1
		}
		list[len(list)-1].LastLine = attempts.Lines[0]
	}
	return list
}

// AtOnce is how soon after its start an attempt must have failed to be taken for a
// consequence of the one before: a restart that trips over what the failure left
// (a cut checkpoint, a taken port) does so before it has trained a step.
const AtOnce = 10 * time.Minute

// FailedAtOnce reports whether an attempt ended within AtOnce of the end of the one
// before it, by the times that both print.
func FailedAtOnce(before, e Episode) bool {
	began, ended := lastTime(before), lastTime(e)
	return began != nil && ended != nil && !Before(began, ended, AtOnce) && !Before(ended, began, 0)
}

func lastTime(e Episode) *incident.Time {
	for _, event := range slices.Backward(e.Events) {
		if event.Time != nil && event.Time.At != nil && event.Time.Clock == incident.Wall {
			return event.Time
		}
	}
	return nil
}

// LastFailed returns the index of the last episode that failed, or of the last one.
func LastFailed(list []Episode) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Outcome == incident.Failed {
			return i
		}
	}
	return len(list) - 1
}
