package server

import (
	"encoding/json"
	"path"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server/session"
	"github.com/graphtrap/graphtrap/server/settings"
)

// maxDebugDocuments bounds the documents that are listed.
const maxDebugDocuments = 200

// debugInfo is the answer of [CommandDebugInfo]: what a bug report needs. It has no
// text of any document and no path, so a user can send it as it is.
type debugInfo struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Client   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"client"`
	Encoding  string             `json:"encoding"`
	Trace     protocol.LSPAny    `json:"trace"`
	Folders   int                `json:"folders"`
	Settings  debugSettings      `json:"settings"`
	Documents []debugDocument    `json:"documents"`
	Unlisted  int                `json:"documents_not_listed"`
	Followed  int                `json:"watched_files"`
	Analyses  analysisStatistics `json:"analyses"`
	Memory    debugMemory        `json:"memory"`
}

// debugSettings are the settings that hold everywhere, paths left out.
type debugSettings struct {
	RankOfInterest     *int     `json:"rankOfInterest"`
	PathMappings       int      `json:"pathMappings"` // how many
	Suppressions       []string `json:"suppressions"` // those that are ids
	SignatureFolder    bool     `json:"signatureFolder"`
	AutomaticAnalysis  bool     `json:"automaticAnalysis"`
	CollateralSeverity string   `json:"collateralSeverity"`
	MaxDocumentBytes   int64    `json:"maxDocumentBytes"`
	SemanticTokens     bool     `json:"semanticTokens"`
}

type debugDocument struct {
	Scheme    string `json:"scheme"`
	Extension string `json:"extension"`
	Language  string `json:"language"`
	Version   int32  `json:"version"`
	Bytes     int    `json:"bytes"`
	Lines     int    `json:"lines"`
	Watched   bool   `json:"watched"`
	Asked     bool   `json:"asked"`
	Broken    bool   `json:"broken"`
	Analysed  bool   `json:"analysed"`
}

// debugMemory is in bytes.
type debugMemory struct {
	Heap       uint64 `json:"heap"`
	System     uint64 `json:"system"`
	Collected  uint32 `json:"collections"`
	Goroutines int    `json:"goroutines"`
}

// analysisStatistics count the analyses of a session. Times are in milliseconds.
type analysisStatistics struct {
	Running   int     `json:"running"`
	Done      int     `json:"done"`
	Failed    int     `json:"failed"`
	Cancelled int     `json:"cancelled"`
	Bytes     int64   `json:"bytes"` // of those that are done
	Total     float64 `json:"total_ms"`
	Longest   float64 `json:"longest_ms"`
	Last      float64 `json:"last_ms"`
}

// statistics are the counts of the analyses so far.
type statistics struct {
	mu  sync.Mutex
	all analysisStatistics
}

func (s *statistics) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Running++
}

// end counts an analysis that began at start.
func (s *statistics) end(start time.Time, incident []analyzer.File, cancelled bool, err error) {
	took := float64(time.Since(start).Microseconds()) / 1000
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Running--
	switch {
	case cancelled:
		s.all.Cancelled++
		return
	case err != nil:
		s.all.Failed++
		return
	}
	s.all.Done++
	for _, f := range incident {
		s.all.Bytes += f.Size
	}
	s.all.Total += took
	s.all.Last = took
	s.all.Longest = max(s.all.Longest, took)
}

func (s *statistics) now() analysisStatistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

func (s *Server) debugInfoCommand(view *session.View) (protocol.LSPAny, error) {
	info := debugInfo{
		Version: s.config.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Encoding: string(view.Client.Convention.Encoding), Folders: len(view.Folders),
		Documents: []debugDocument{}, Followed: s.watching.count(), Analyses: s.statistics.now(),
	}
	info.Client.Name, info.Client.Version = view.Client.Name, view.Client.Version
	info.Trace, _ = json.Marshal(s.clientLog.trace.Load()) // a string cannot fail
	info.Settings = s.debugSettings(view)
	for _, d := range view.Documents() {
		_, analysed := d.Analysis.Peek()
		info.Documents = append(info.Documents, debugDocument{
			Scheme: d.Key.Scheme(), Extension: extension(d.Key.Path()), Language: extension("." + d.Language),
			Version: d.Version, Bytes: d.Text.Len(), Lines: d.Text.Lines(),
			Watched: d.Watched(), Asked: d.Asked, Broken: d.Broken, Analysed: analysed,
		})
	}
	// In an order that does not come from their names.
	slices.SortFunc(info.Documents, func(a, b debugDocument) int { return b.Bytes - a.Bytes })
	if n := len(info.Documents) - maxDebugDocuments; n > 0 {
		info.Documents, info.Unlisted = info.Documents[:maxDebugDocuments], n
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	info.Memory = debugMemory{Heap: memory.HeapAlloc, System: memory.Sys, Collected: memory.NumGC, Goroutines: runtime.NumGoroutine()}
	return json.Marshal(info)
}

func (s *Server) debugSettings(view *session.View) debugSettings {
	all := view.Settings("")
	d := debugSettings{
		RankOfInterest: all.RankOfInterest, PathMappings: len(all.PathMappings), Suppressions: []string{},
		SignatureFolder: all.SignatureFolder != "", AutomaticAnalysis: all.AutomaticAnalysis, CollateralSeverity: settings.SeverityName(all.CollateralSeverity),
		MaxDocumentBytes: all.MaxDocumentBytes, SemanticTokens: all.SemanticTokens,
	}
	if set, _, _ := s.knowledge.with(all.SignatureFolder); set != nil && len(all.Suppressions) > 0 {
		for _, id := range all.Suppressions {
			if set.Failure(id) != nil || set.Message(id) != nil {
				d.Suppressions = append(d.Suppressions, id)
			}
		}
	}
	return d
}

// plainExtension is one that says what a file is and nothing about whose it is.
var plainExtension = regexp.MustCompile(`^\.[A-Za-z]{1,10}$`)

// extension is the end of a name, without its dot.
func extension(name string) string {
	if e := path.Ext(name); plainExtension.MatchString(e) {
		return e[1:]
	}
	return ""
}
