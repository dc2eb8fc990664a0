package server

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/session"
)

// A log that the user had diagnosed by its path is followed, if the client watches
// files: its diagnostics are shown although it is not open, and are made anew when
// it changes. When the editor opens it, it is a document like any other.

// follow follows what was just diagnosed, if it is on disk.
func (s *Server) follow(path string, a *analyzer.Analysis) {
	if s.watchLog(path) == watchedLog {
		s.scheduler.submit(s.base, fileJob(path), afterTheOther, func(context.Context, time.Time) { s.publishFile(path, a) })
	}
}

// fileJob is the scheduler's key of what is done for a file on disk.
func fileJob(path string) uri.URI { return uri.URI("graphtrap:file?" + path) }

// watchLog has the client tell of changes of a log, or of a folder of logs, and
// returns which of them it is; unwatched if it does not tell, or if the editor has
// the log open.
func (s *Server) watchLog(path string) watchedKind {
	view := s.store.View()
	if path == "" || !view.Client.RegistersWatchedFiles || view.Document(uri.File(path)) != nil {
		return unwatched
	}
	info, err := os.Stat(path)
	if err != nil {
		return unwatched
	}
	kind := watchedLog
	if info.IsDir() {
		kind = watchedLogs
	}
	s.watch(path, kind)
	return kind
}

// fileChanged looks again at a log on disk, or a folder of logs.
func (s *Server) fileChanged(ctx context.Context, path string) {
	defer func() {
		if p := recover(); p != nil {
			s.logPanic("watched files", session.Recovered(p))
		}
	}()
	s.refreshReport(uri.File(path), nil)
	if !s.watching.isPublished(path) {
		return // nothing of it is shown
	}
	what, err := s.subjectPath(s.store.View(), path)
	if err != nil {
		return
	}
	a, err := what.analyze(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil: // it is gone, or no log any more
		s.unpublishFile(path)
	default:
		s.publishFile(path, a)
	}
}

// publishFile shows the diagnostics of a log that is not open. One whose text is
// not what is on disk, as that of a compressed one, has no lines to show them on,
// and one that is larger than the user's bound is opened by no editor.
func (s *Server) publishFile(path string, a *analyzer.Analysis) {
	view, key := s.store.View(), uri.File(path)
	where := view.Settings(key)
	if view.Document(key) != nil {
		return
	}
	if len(a.Report.Input.Files) != 1 || a.Report.Input.Files[0].Bytes > where.MaxDocumentBytes {
		return
	}
	text, err := readLog(path, a.Report.Input.Files[0].Bytes)
	if err != nil {
		return
	}
	d := &session.Snapshot{URI: key, Key: key, Text: position.New(text, view.Client.Convention), Settings: where}
	found := diagnostics(view.Client, d, a.Report)
	s.watching.setPublished(path, true)
	s.outbox.publish(&protocol.PublishDiagnosticsParams{URI: key, Diagnostics: found}, func() bool {
		return s.store.View().Document(key) == nil
	})
}

// readLog reads the part of a file that was analysed.
func readLog(path string, size int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < size {
		return nil, io.ErrUnexpectedEOF // cut, or compressed
	}
	text := make([]byte, size)
	_, err = io.ReadFull(f, text)
	return text, err
}

// unpublishFile takes back what is shown of a log on disk.
func (s *Server) unpublishFile(path string) {
	if s.watching.setPublished(path, false) {
		s.outbox.clear(&session.Snapshot{URI: uri.File(path)})
	}
}

// opened ends what was going on for a log on disk: the editor has it now.
func (s *Server) opened(key uri.URI) {
	if key.IsFile() {
		s.unpublishFile(filepath.Clean(key.FsPath()))
	}
}

func (w *watching) isPublished(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.published[path]
}

// setPublished reports how it was before.
func (w *watching) setPublished(path string, is bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.published[path]
	switch {
	case !is:
		delete(w.published, path)
	case len(w.published) < maxWatching || was:
		if w.published == nil {
			w.published = map[string]bool{}
		}
		w.published[path] = true
	}
	return was
}
