// Package settings reads what the user set: the object "graphtrap" of an editor's
// configuration. What cannot be used is told key by key and keeps its older value;
// the rest applies.
package settings

import (
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// Settings are the user's settings for one document.
type Settings struct {
	// RankOfInterest is the global rank whose lines are shown even where those of
	// the other victims are not, and first where not all are; nil means none.
	RankOfInterest *int
	// PathMappings say where the files of another machine lie on this one.
	PathMappings []Mapping
	// Suppressions are the ids of failures and messages whose diagnostics are not
	// shown.
	Suppressions []string
	// SignatureFolder has signature files of the user's, read beside the built-in
	// ones; empty means none. A relative path starts from the workspace folder.
	SignatureFolder string
	// SignatureReading tells readings of the folder apart; no setting of the user's.
	SignatureReading int
	// AutomaticAnalysis is false if documents are analysed only when the user asks.
	AutomaticAnalysis bool
	// CollateralSeverity is how the lines of those that only suffered are shown; 0
	// means not at all.
	CollateralSeverity protocol.DiagnosticSeverity
	// MaxDocumentBytes bounds the documents that are analysed unasked, in bytes.
	MaxDocumentBytes int64
	// SemanticTokens turns on the colouring of logs.
	SemanticTokens bool
}

// Mapping says that what lay under From lies under To.
type Mapping struct{ From, To string }

// DefaultMaxDocumentBytes is above what editors send (50 MiB in VS Code).
const DefaultMaxDocumentBytes = 64 << 20

// Default are the settings of a user who set nothing.
func Default() Settings {
	return Settings{
		AutomaticAnalysis:  true,
		CollateralSeverity: protocol.DiagnosticSeverityHint,
		MaxDocumentBytes:   DefaultMaxDocumentBytes,
	}
}

// Map returns the places on this machine where a path of another one may lie, by
// the mappings whose From it is under, the longest From first. Both kinds of
// slashes separate its parts.
func (s *Settings) Map(path string) []string {
	slashed := strings.ReplaceAll(path, `\`, "/")
	var places []string
	var lengths []int
	for _, m := range s.PathMappings {
		from := strings.TrimRight(strings.ReplaceAll(m.From, `\`, "/"), "/")
		rest, under := strings.CutPrefix(slashed, from)
		if !under || rest != "" && rest[0] != '/' {
			continue
		}
		at := len(places)
		for at > 0 && lengths[at-1] < len(from) {
			at--
		}
		places = append(places[:at], append([]string{strings.TrimRight(m.To, `/\`) + rest}, places[at:]...)...)
		lengths = append(lengths[:at], append([]int{len(from)}, lengths[at:]...)...)
	}
	return places
}

// Scopes are the settings of a session, and those of the workspace folders that
// have their own.
type Scopes struct {
	Everywhere Settings
	Folders    map[uri.URI]Settings
}

// For are the settings of a document or folder: those of the innermost workspace
// folder that holds it.
func (s *Scopes) For(key uri.URI) *Settings {
	best, found := s.Everywhere, -1
	for folder, settings := range s.Folders {
		root := strings.TrimRight(string(folder), "/")
		if rest, under := strings.CutPrefix(string(key), root); under && (rest == "" || rest[0] == '/') && len(root) > found {
			best, found = settings, len(root)
		}
	}
	return &best
}
