// Package input turns what a user points at into the files of one incident: a
// log, a compressed log, or a folder of per-rank logs whose paths say whose they
// are. It opens nothing by itself: the caller gives it a file system or a reader.
package input

import (
	"io"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// File is one file of an incident.
type File struct {
	// Path is how the report names the file.
	Path string
	// Data is read with ReadAt from several goroutines; Size is its length in
	// bytes, that of the text for a compressed file.
	Data io.ReaderAt
	Size int64
	// Origin is what the path says of the process that wrote the file; lines
	// that say more win.
	Origin incident.Origin
	// Attempt is the restart that the path names, counted from 0.
	Attempt int
	// Time is when the failure that the file tells of was raised, where the file
	// says so for all of its lines; nil elsewhere.
	Time *incident.Time
}

// Bounds on a folder.
const (
	// MaxFiles is how many files of one folder are read; a job of a thousand
	// ranks has two for each.
	MaxFiles = 4096
	// MaxDepth is how deep in the folder they may lie.
	MaxDepth = 8
)
