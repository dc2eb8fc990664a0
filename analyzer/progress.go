package analyzer

import (
	"sync"

	"github.com/graphtrap/graphtrap/analyzer/scan"
)

// watched is the scanner, told on for one run over the files if anyone listens.
func (a *Analyzer) watched(files []File) *scan.Scanner {
	if a.opts.Progress == nil {
		return a.scanner
	}
	var mu sync.Mutex
	var scanned, total int64
	for _, f := range files {
		total += f.Size
	}
	scanner := *a.scanner
	scanner.Scanned = func(bytes int64) {
		mu.Lock()
		defer mu.Unlock()
		scanned += bytes
		a.opts.Progress(scanned, total)
	}
	return &scanner
}
