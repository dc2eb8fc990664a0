package incident

import (
	"fmt"
	"strings"
)

// Origin says who printed a line. A nil number or an empty string is not
// known. The fields are what the line itself says, until the timeline adds what
// mappings elsewhere in the log give.
type Origin struct {
	// Rank is the global rank.
	Rank      *int
	LocalRank *int
	PID       *int
	// Device is the index of the card that the printing thread used, which
	// tells ranks apart only where one process drives several. It is no part of Key.
	Device *int
	Host   string
	// Process is the name that the line gives its process: "EngineCore_DP0".
	Process string
	// Stream is "stdout", "stderr" or empty.
	Stream string
	// RankFrom says how Rank is known.
	RankFrom string
}

// Known reports whether anything but the stream is known of the printer.
func (o Origin) Known() bool {
	return o.Rank != nil || o.LocalRank != nil || o.PID != nil || o.Host != "" || o.Process != ""
}

// Key is an origin in comparable form; -1 stands for an unknown number.
type Key struct {
	Rank, LocalRank, PID int
	Host, Process        string
}

// Key returns what tells the origin from others. How the rank is known, and the
// stream, do not.
func (o Origin) Key() Key {
	number := func(p *int) int {
		if p == nil {
			return -1
		}
		return *p
	}
	return Key{number(o.Rank), number(o.LocalRank), number(o.PID), o.Host, o.Process}
}

// Or completes an origin by what its file's path says. A line that names its
// rank keeps it, whatever the file is called.
func (o Origin) Or(file Origin) Origin {
	if o.Rank == nil && o.LocalRank == nil && o.Process == "" {
		o.Rank, o.RankFrom = file.Rank, file.RankFrom
	}
	if o.LocalRank == nil {
		o.LocalRank = file.LocalRank
	}
	if o.Host == "" {
		o.Host = file.Host
	}
	if o.Stream == "" {
		o.Stream = file.Stream
	}
	return o
}

// Name is how a person is told of the origin: "rank 3", "local rank 1 on
// node-2", "EngineCore_DP0 (pid 311)". It is empty when nothing is known.
func (o Origin) Name() string {
	if o.Rank != nil {
		return fmt.Sprintf("rank %d", *o.Rank)
	}
	var parts []string
	if o.Process != "" {
		parts = append(parts, o.Process)
	}
	if o.LocalRank != nil {
		parts = append(parts, fmt.Sprintf("local rank %d", *o.LocalRank))
	}
	if o.PID != nil {
		parts = append(parts, fmt.Sprintf("pid %d", *o.PID))
	}
	if o.Host != "" {
		if len(parts) == 0 {
			parts = append(parts, "a process")
		}
		parts = append(parts, "on "+o.Host)
	}
	return strings.Join(parts, " ")
}
