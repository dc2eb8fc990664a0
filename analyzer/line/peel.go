package line

import (
	"strconv"
	"strings"
)

// maxLayers bounds how many prefixes one line may have; eight were seen at most.
const maxLayers = 12

// peel takes prefixes off the front of the piece's text, outermost first, until
// none is left.
func peel(p *Piece) {
	for range maxLayers {
		n := peelOne(p, p.Text)
		if n == 0 {
			break
		}
		p.cut(n)
	}
	loggerRank(p)
	scheduler(p)
	dropRepeated(p)
}

// dropRepeated takes Ray's note off the end of a line. It merges lines of several
// workers into one, so that the worker named is only one of them.
//
//	(RayWorkerWrapper pid=6088) Graph capturing finished in 20 secs [repeated 3x across cluster]
func dropRepeated(p *Piece) {
	const mark = "x across cluster]"
	if !strings.HasSuffix(p.Text, mark) {
		return
	}
	if i := strings.LastIndex(p.Text, " [repeated "); i >= 0 && allDigits(p.Text[i+len(" [repeated "):len(p.Text)-len(mark)]) {
		p.Text = p.Text[:i]
	}
}

func (p *Piece) cut(n int) {
	p.Text = p.Text[n:]
	p.columns = p.columns.from(n)
	p.Prefixed = true
}

// peelOne returns the length of the prefix at the start of s and stores what it
// says, or returns 0.
func peelOne(p *Piece, s string) int {
	if s == "" {
		return 0
	}
	switch c := s[0]; {
	case c == '[':
		for _, layer := range bracketLayers {
			if n := layer(p, s); n > 0 {
				return n
			}
		}
	case c == '(':
		return actor(p, s)
	case c >= '0' && c <= '9':
		for _, layer := range digitLayers {
			if n := layer(p, s); n > 0 {
				return n
			}
		}
	case c >= 'A' && c <= 'Z':
		for _, layer := range capitalLayers {
			if n := layer(p, s); n > 0 {
				return n
			}
		}
	case c >= 'a' && c <= 'z':
		for _, layer := range wordLayers {
			if n := layer(p, s); n > 0 {
				return n
			}
		}
	case c == ' ' && len(s) > 1 && s[1] == '[' && p.Stamp.Text == "":
		// Megatron starts its lines with a blank: " [2026-11-18 03:44:10] iteration ..."
		if n := bracketTime(p, s[1:]); n > 0 {
			return n + 1
		}
	}
	return 0
}

// wrapper peels what stands around a JSON record: a container runtime's prefix.
func wrapper(p *Piece, s string) int {
	if s == "" {
		return 0
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9':
		return criTime(p, s)
	case c == '[':
		return podName(p, s)
	case c >= 'a' && c <= 'z':
		return composeName(p, s)
	}
	return 0
}

type layer func(p *Piece, s string) int

var (
	bracketLayers = []layer{outerRank, localRank, templateRank, glog, determined, bracketTime, levelName, podName, mpiTag, trtllm, nemo, kernelTime}
	digitLayers   = []layer{criTime, isoTime, ncclHost, kaggle}
	capitalLayers = []layer{ctimeTag, syslog, cloudSeverity, glogBare, pythonLevel, vllmLevel}
	wordLayers    = []layer{composeName, ncclHost, nemoRun}
)

// loggerRank reads a rank that stands in front of the text without being a
// prefix of its own kind; the text keeps it. c10d's inner [Rank N] is a rank in
// a group, so that it counts only where nothing else is known.
//
//	[Rank 8] (after 1 iterations) memory (MB) | allocated: ...
//	[rank 0] graph entry 12/96 ...
//	[rank: 3] Received SIGTERM: 15
func loggerRank(p *Piece) {
	if p.Origin.Rank != nil {
		return
	}
	for _, prefix := range []string{"[Rank ", "[rank ", "[RANK ", "[rank: "} {
		if !strings.HasPrefix(p.Text, prefix) {
			continue
		}
		n, i := numbered(p.Text, prefix, "]")
		if i == 0 {
			continue
		}
		from := "logger's rank"
		if strings.Contains(p.Source, "ProcessGroupNCCL") {
			from = "group rank in the message"
		}
		p.Origin.Rank, p.Origin.RankFrom = &n, from
		return
	}
}

// scheduler notes that a line is the scheduler's own, so that it does not go on with
// what a task printed above it; the text keeps the name.
//
//	srun: Terminating StepId=9120443.0
func scheduler(p *Piece) {
	for _, name := range []string{"srun", "slurmstepd"} {
		if p.Source == "" && strings.HasPrefix(p.Text, name+": ") {
			p.Source = name
		}
	}
}

// numbered reads prefix, a decimal number of at most six digits, and suffix at
// the start of s; it returns the number and the length, 0 if s does not start so.
func numbered(s, prefix, suffix string) (int, int) {
	if !strings.HasPrefix(s, prefix) {
		return 0, 0
	}
	i := len(prefix)
	j := i
	for j < len(s) && isDigit(s[j]) {
		j++
	}
	if j == i || j-i > 6 || !strings.HasPrefix(s[j:], suffix) {
		return 0, 0
	}
	n, _ := strconv.Atoi(s[i:j])
	return n, j + len(suffix)
}

// blank returns 1 if s starts with a blank, the separator behind a prefix; more
// blanks belong to the text.
func blank(s string) int {
	if s != "" && s[0] == ' ' {
		return 1
	}
	return 0
}

func levelWord(s string) int {
	for _, w := range []string{"INFO", "WARNING", "WARN", "ERROR", "DEBUG", "CRITICAL", "FATAL"} {
		if strings.HasPrefix(s, w) && (len(s) == len(w) || !isWordByte(s[len(w)])) {
			return len(w)
		}
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool {
	return isDigit(c) || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func (p *Piece) setStamp(text string) {
	if text != "" && p.Stamp.Text == "" { // the outermost time is one clock for the whole file
		p.Stamp = Stamp{Text: text, form: formFor(text)}
	}
}
