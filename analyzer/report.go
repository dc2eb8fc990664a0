package analyzer

import (
	"fmt"

	"github.com/graphtrap/graphtrap/analyzer/cause"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
)

// MaxReportEvents bounds the events listed in a report; the verdict is made from
// all of them.
const MaxReportEvents = 5000

// newReport returns a report whose lists are empty and not null.
func newReport(version string) *incident.Report {
	return &incident.Report{
		SchemaVersion: incident.SchemaVersion,
		Tool:          incident.Tool{Name: "graphtrap", Version: version},
		Input:         incident.Input{Files: []incident.File{}},
		Coverage:      incident.Coverage{RanksSeen: []int{}, Cut: []string{}},
		Episodes:      []incident.Episode{},
		Memory:        []incident.Series{},
		Pools:         []incident.Pool{},
		Events:        []incident.Event{},
		Notes:         []string{},
	}
}

func addFile(r *incident.Report, file File, scanned *scan.Result, found *message.Found) {
	r.Input.Files = append(r.Input.Files, incident.File{Path: file.Path, Bytes: file.Size, Lines: scanned.Lines, Rank: file.Origin.Rank})
	if !file.Origin.Known() {
		r.Coverage.LinesWithoutOrigin += scanned.WithoutOrigin
	}
	r.Coverage.Cut = append(r.Coverage.Cut, scanned.Cut...)
	if found.Dropped > 0 {
		r.Coverage.Cut = append(r.Coverage.Cut, fmt.Sprintf("%d messages behind the first %d of %s were not used", found.Dropped, message.MaxEvents, file.Path))
	}
	if found.DroppedFigures > 0 {
		r.Coverage.Cut = append(r.Coverage.Cut, fmt.Sprintf("%d memory figures of %s belong to no series: %d series were kept", found.DroppedFigures, file.Path, memory.MaxTracks))
	}
}

func fillReport(r *incident.Report, run *timeline.Run, tracks []*memory.Track, c cause.Conclusion) {
	r.Verdict = c.Verdict
	orEmpty(&r.Verdict)
	if run.Ranks != nil {
		r.Coverage.RanksSeen = run.Ranks
	}
	if run.World > 0 {
		r.Coverage.WorldSize, r.Coverage.WorldSizeFrom = &run.World, run.WorldFrom
	}
	for _, t := range tracks {
		if s := t.Series(); len(s.Samples) > 0 { // figures whose unit is not known have a trend only
			r.Memory = append(r.Memory, s)
		}
	}
	for i, e := range run.Events {
		if r.Coverage.FirstTime == nil {
			r.Coverage.FirstTime = e.Time
		}
		if e.Time != nil {
			r.Coverage.LastTime = e.Time
		}
		if i < MaxReportEvents {
			r.Events = append(r.Events, incident.Event{
				Message: e.ID, Role: c.Roles[e], Rank: e.Origin.Rank, Location: e.Location(), Time: e.Time, Facts: e.Facts,
			})
		}
	}
	if n := len(run.Events); n > MaxReportEvents {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d messages are listed; all of them were used", MaxReportEvents, n))
	}
}

// addEpisodes lists the attempts; the verdict is about the one with the index told.
func addEpisodes(r *incident.Report, episodes []timeline.Episode, told int) {
	for _, e := range episodes {
		r.Episodes = append(r.Episodes, e.Episode)
	}
	if len(episodes) < 2 {
		return
	}
	why := "the last that failed"
	if told != timeline.LastFailed(episodes) {
		why = "since the later ones failed at once after a restart, and otherwise"
	}
	r.Notes = append(r.Notes, fmt.Sprintf("The log holds %d attempts of the run; this is about attempt %d, %s.", len(episodes), episodes[told].Attempt, why))
}

// orEmpty makes absent lists empty, as the report promises lists and not nulls.
func orEmpty(v *incident.Verdict) {
	if v.CoInitiators == nil {
		v.CoInitiators = []incident.Initiator{}
	}
	if v.Collateral == nil {
		v.Collateral = []incident.Collateral{}
	}
	if v.Evidence == nil {
		v.Evidence = []incident.Evidence{}
	}
	if v.Checklist == nil {
		v.Checklist = []incident.ChecklistItem{}
	}
	if v.Rivals == nil {
		v.Rivals = []incident.Rival{}
	}
	if v.Reasoning == nil {
		v.Reasoning = []incident.Reason{}
	}
	if v.Fixes == nil {
		v.Fixes = []incident.Fix{}
	}
	if v.Verify == nil {
		v.Verify = []incident.Verify{}
	}
	if v.Related == nil {
		v.Related = []string{}
	}
	if v.References == nil {
		v.References = []incident.Reference{}
	}
}
