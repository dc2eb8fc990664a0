package server

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/settings"
)

const (
	// maxWatching bounds the files and folders that the client is asked to watch: of
	// more, those that were used last.
	maxWatching = 128
	// watchingJob is the scheduler's key of telling the client what to watch.
	watchingJob uri.URI = "graphtrap:watching"
)

// watchedKind is why a file is watched.
type watchedKind int

const (
	unwatched watchedKind = iota
	// watchedLog is a log that was diagnosed by its path: it is diagnosed again.
	watchedLog
	// watchedLogs is a folder of logs.
	watchedLogs
	// watchedSource is a source file that a fix touches.
	watchedSource
	// watchedSignatures is the user's signature folder.
	watchedSignatures
)

// watching is what the client is asked to watch.
type watching struct {
	mu    sync.Mutex
	paths map[string]watchedKind
	order []string // the one used last comes last
	// published are the logs on disk that have diagnostics in the client; see follow.go.
	published map[string]bool
	// registered is the id of the registration that is in force.
	registered string
	next       int
}

func (w *watching) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.paths)
}

// add reports whether there is something new to watch.
func (w *watching) add(path string, kind watchedKind) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paths == nil {
		w.paths = map[string]watchedKind{}
	}
	old, known := w.paths[path]
	w.paths[path] = kind
	w.order = append(slices.DeleteFunc(w.order, func(p string) bool { return p == path }), path)
	if len(w.order) > maxWatching {
		delete(w.paths, w.order[0])
		w.order = slices.Delete(w.order, 0, 1)
	}
	return !known || old != kind
}

// touched are the watched paths that a change of a file concerns: itself, and the
// folders above it.
func (w *watching) touched(path string) map[string]watchedKind {
	w.mu.Lock()
	defer w.mu.Unlock()
	touched := map[string]watchedKind{}
	for at, last := path, ""; at != last; at, last = filepath.Dir(at), at {
		if kind, ok := w.paths[at]; ok && (at == path || kind == watchedLogs || kind == watchedSignatures) {
			touched[at] = kind
		}
	}
	return touched
}

// watch has the client tell of changes of a file or folder, if it can.
func (s *Server) watch(path string, kind watchedKind) {
	if !s.store.View().Client.RegistersWatchedFiles || !filepath.IsAbs(path) {
		return
	}
	if s.watching.add(filepath.Clean(path), kind) {
		s.scheduler.submit(s.base, watchingJob, afterTheOther, func(ctx context.Context, _ time.Time) { s.registerWatching(ctx) })
	}
}

// watchSignatures watches the folders of the user's signatures.
func (s *Server) watchSignatures(scopes *settings.Scopes) {
	for _, here := range scopes.Folders {
		if here.SignatureFolder != "" {
			s.watch(here.SignatureFolder, watchedSignatures)
		}
	}
	if folder := scopes.Everywhere.SignatureFolder; folder != "" {
		s.watch(folder, watchedSignatures)
	}
}

// registerWatching registers all that is watched, then takes back what was
// registered before.
func (s *Server) registerWatching(ctx context.Context) {
	w, client := &s.watching, s.store.View().Client
	w.mu.Lock()
	options := protocol.DidChangeWatchedFilesRegistrationOptions{}
	for _, path := range w.order {
		options.Watchers = append(options.Watchers, watcher(path, w.paths[path], client.RelativePatterns))
	}
	w.next++
	id, old := fmt.Sprintf("graphtrap/watched/%d", w.next), w.registered
	w.mu.Unlock()
	encoded, err := protocol.Marshal(&options)
	if err == nil {
		err = s.client.RegisterCapability(ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{{
			ID: id, Method: protocol.MethodWorkspaceDidChangeWatchedFiles, RegisterOptions: encoded,
		}}})
	}
	if err != nil {
		s.log.Debug("the client does not watch files", zap.Error(err))
		return
	}
	w.mu.Lock()
	w.registered = id
	w.mu.Unlock()
	if old == "" {
		return
	}
	err = s.client.UnregisterCapability(s.base, &protocol.UnregistrationParams{Unregisterations: []protocol.Unregistration{{
		ID: old, Method: protocol.MethodWorkspaceDidChangeWatchedFiles,
	}}})
	if err != nil {
		s.log.Debug("files are watched twice", zap.Error(err))
	}
}

// special are the characters that mean something in a glob pattern.
var special = regexp.MustCompile(`[*?{}\[\]]`)

// watcher is the pattern for one file, or for what is in a folder.
func watcher(path string, kind watchedKind, relative bool) protocol.FileSystemWatcher {
	dir, name := filepath.Dir(path), special.ReplaceAllString(filepath.Base(path), "?")
	switch kind {
	case watchedLogs:
		dir, name = path, "**"
	case watchedSignatures:
		dir, name = path, "**/*.toml"
	}
	if relative {
		return protocol.FileSystemWatcher{GlobPattern: &protocol.RelativePattern{
			BaseURI: protocol.URI(uri.File(dir)), Pattern: protocol.Pattern(name),
		}}
	}
	return protocol.FileSystemWatcher{GlobPattern: protocol.Pattern(special.ReplaceAllString(filepath.ToSlash(dir), "?") + "/" + name)}
}

// refreshLenses has the client ask again for code lenses: whether there is a fix may
// be another answer now.
func (s *Server) refreshLenses() {
	if s.store.View().Client.RefreshesLenses {
		s.refreshes.want(s.base, s.log, protocol.MethodWorkspaceCodeLensRefresh, s.client.CodeLensRefresh)
	}
}

type watchedFilesParams struct {
	Changes []struct {
		URI  string `json:"uri"`
		Type uint32 `json:"type"`
	} `json:"changes"`
}

// didChangeWatchedFiles has what depends on the files done again. Documents that
// are open have their own changes, so those are left alone.
func (s *Server) didChangeWatchedFiles(p *watchedFilesParams) error {
	view := s.store.View()
	touched := map[string]watchedKind{}
	for _, change := range p.Changes {
		key, err := canonical(change.URI)
		if err != nil || !key.IsFile() {
			continue
		}
		for path, kind := range s.watching.touched(filepath.Clean(key.FsPath())) {
			touched[path] = kind
		}
	}
	for path, kind := range touched {
		switch kind {
		case watchedLog, watchedLogs:
			if view.Document(uri.File(path)) == nil {
				s.scheduler.submit(s.base, fileJob(path), afterTheOther, func(ctx context.Context, _ time.Time) { s.fileChanged(ctx, path) })
			}
		case watchedSignatures:
			s.configuration.mu.Lock()
			s.configuration.read++
			s.configuration.mu.Unlock()
			s.knowledge.forget(func(folder string, _ bool) bool { return filepath.Clean(folder) == path })
			s.readSettings()
		case watchedSource:
			s.refreshLenses()
		}
	}
	return nil
}
