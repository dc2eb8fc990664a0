// Package analyzer turns the bytes of a log into one report. It opens no file,
// reads no clock and keeps no state between calls: the same bytes give the same
// report.
//
// [Diagnose] is the pipeline; each step is a package of its own that knows
// nothing of the later ones.
package analyzer

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphtrap/graphtrap/analyzer/cause"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/input"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

// File is one file of an incident, opened by the caller; see package input for
// folders and compressed files.
type File = input.File

// Options tune an analysis. The zero value is right for most callers.
type Options struct {
	// Version is the program's version, printed in the report.
	Version string
	// Workers bounds the goroutines of the scan; 0 means one for each CPU. It never changes the report.
	Workers int
	// Chunk is how many bytes a worker scans at a time, and about how many are read
	// again when a file has grown; 0 means the default. It never changes the report.
	Chunk int
	// Progress, if set, is told how many of the bytes of all files were scanned: one
	// call at a time, never fewer than before, in the end all. It is called by the
	// goroutines of the scan, so it must return at once. It never changes the report.
	Progress func(scanned, total int64)
}

// Analysis is a report, and what a front end needs besides it to show an answer on the lines themselves.
type Analysis struct {
	Report *incident.Report
	// Frames are the user's own frames of the initiating traceback (library
	// code left out), innermost first: where a source edit may belong.
	Frames []incident.Frame

	lines *lines
	// kept is for an analysis of the same file when it has grown; nil if there is none.
	kept *kept
}

// Analyzer holds the signatures in the form that the stages use. It is safe for
// concurrent use.
type Analyzer struct {
	set     *signatures.Set
	scanner *scan.Scanner
	opts    Options
	follow  *following
}

// New returns an analyzer for the signatures.
func New(set *signatures.Set, opts Options) *Analyzer {
	scanner := scan.New(message.Anchors(set))
	if opts.Workers > 0 {
		scanner.Workers = opts.Workers
	}
	if opts.Chunk > 0 {
		scanner.Chunk = opts.Chunk
	}
	return &Analyzer{set: set, scanner: scanner, opts: opts}
}

// WithProgress returns an analyzer that tells its progress; see [Options]. It shares
// all else with a, so it costs nothing.
func (a *Analyzer) WithProgress(tell func(scanned, total int64)) *Analyzer {
	told := *a
	told.opts.Progress = tell
	return &told
}

// Diagnose reads the files as one incident with the built-in signatures; see
// [Analyzer.Diagnose].
func Diagnose(ctx context.Context, files []File, opts Options) (*Analysis, error) {
	set, err := signatures.Builtin()
	if err != nil {
		return nil, fmt.Errorf("loading the built-in signatures: %w", err)
	}
	return New(set, opts).Diagnose(ctx, files)
}

// Diagnose reads the files as one incident. It fails only when ctx is
// cancelled or a file cannot be read; odd input makes a partial report that
// says so in its notes.
func (a *Analyzer) Diagnose(ctx context.Context, files []File) (*Analysis, error) {
	report := newReport(a.opts.Version)
	var events []*message.Event
	var tracks []*memory.Track
	var printers []scan.Seen
	labelled := false
	var layouts []line.Layout
	scanner, keeper := a.watched(files), a.keeper(files)
	for i, file := range files {
		scanned, found, err := keeper.read(ctx, scanner, file, i, a.set)
		if err != nil {
			return nil, err
		}
		for _, e := range found.Events {
			if e.Time == nil {
				e.Time = file.Time
			}
		}
		events = append(events, found.Events...)
		tracks = append(tracks, found.Tracks...)
		printers = append(printers, printersOf(file, scanned)...)
		labelled = labelled || scanned.Layout.TaskLabel
		layouts = append(layouts, scanned.Layout)
		addFile(report, file, scanned, found)
	}
	decode(events)

	run := timeline.Build(events, printers, labelled)
	for _, t := range tracks {
		t.Origin = run.Resolve(t.Origin)
	}
	episodes := timeline.Episodes(run.All, attempts(files, report))
	told, conclusion := a.conclude(run, tracks, episodes)

	fillReport(report, run, tracks, conclusion)
	addEpisodes(report, episodes, told)
	return &Analysis{
		Report: report, Frames: cause.UserFrames(conclusion.Initiating),
		lines: newLines(a.set, files, layouts, run, conclusion),
		kept:  keeper.next,
	}, nil
}

// conclude reasons about the last attempt that failed. Where that one failed at once
// and otherwise than the one before it, it is likely a consequence: then the
// earlier failure is told.
func (a *Analyzer) conclude(run *timeline.Run, tracks []*memory.Track, episodes []timeline.Episode) (int, cause.Conclusion) {
	about := func(i int) cause.Conclusion {
		run.Events = episodes[i].Events
		inquiry := cause.Inquiry{Run: run, Set: a.set, Tracks: tracks}
		return inquiry.Conclude()
	}
	told := timeline.LastFailed(episodes)
	c := about(told)
	for told > 0 && timeline.FailedAtOnce(episodes[told-1], episodes[told]) {
		earlier := about(told - 1)
		if earlier.Initiating == nil || earlier.SameAs(c) {
			break
		}
		told, c = told-1, earlier
	}
	run.Events = episodes[told].Events
	return told, c
}

func attempts(files []File, report *incident.Report) timeline.Attempts {
	var a timeline.Attempts
	for i, f := range files {
		a.Files = append(a.Files, f.Attempt)
		a.Lines = append(a.Lines, report.Input.Files[i].Lines)
	}
	return a
}

// printersOf completes who printed a file's lines by what the file's path says.
func printersOf(file File, scanned *scan.Result) []scan.Seen {
	out := slices.Clone(scanned.Printers)
	for i := range out {
		out[i].Origin = out[i].Origin.Or(file.Origin)
	}
	if file.Origin.Known() && scanned.WithoutOrigin > 0 {
		out = append(out, scan.Seen{Origin: file.Origin, Lines: scanned.WithoutOrigin, First: 1, Last: scanned.Lines})
	}
	return out
}

// decode adds what follows from the figures of out-of-memory messages.
func decode(events []*message.Event) {
	for _, e := range events {
		if e.Message == nil || len(e.Message.Derived) == 0 {
			continue
		}
		memory.Derive(e.Facts, memory.Exception(e.At.Text))
	}
}
