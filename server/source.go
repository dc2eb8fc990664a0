package server

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/session"
)

// maxSource bounds the source files that are read for an edit.
const maxSource = 8 << 20

// source is a file that a traceback names, as the editor or else the disk has it.
type source struct {
	uri     uri.URI // as the client spells it, if the file is open
	version *int32  // of the open document; nil for one that is only on disk
	name    string  // for titles: train.py
	text    []byte
	line    int // of the frame, from 1
}

// findSource finds the file of a frame. A log often comes from another machine,
// so the file may lie elsewhere than the traceback says: under a workspace folder
// or beside the log, by as much of its path as fits. It must lie inside a
// workspace folder, links followed, and have the line that the traceback quotes.
func findSource(view *session.View, log *session.Snapshot, frame incident.Frame) (source, bool) {
	var folders []string // with links followed
	var roots []string
	for _, f := range view.Folders {
		if !f.IsFile() {
			continue
		}
		if resolved, err := filepath.EvalSymlinks(f.FsPath()); err == nil {
			folders, roots = append(folders, resolved), append(roots, f.FsPath())
		}
	}
	if log.Key.IsFile() {
		roots = append(roots, filepath.Dir(log.Key.FsPath()))
	}
	for _, candidate := range candidates(frame.Path, roots) {
		if s, ok := readSource(view, candidate, folders); ok && s.find(frame) {
			return s, true
		}
	}
	return source{}, false
}

// candidates are the places where a file may be: where the path says, then by
// ever shorter ends of the path under each root.
func candidates(path string, roots []string) []string {
	var list []string
	if filepath.IsAbs(path) {
		list = append(list, filepath.Clean(path))
	}
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	for i := range parts {
		tail := filepath.Join(parts[i:]...)
		if !filepath.IsLocal(tail) {
			continue
		}
		for _, root := range roots {
			list = append(list, filepath.Join(root, tail))
		}
	}
	return list
}

// readSource reads a Python file that lies inside one of the folders.
func readSource(view *session.View, path string, folders []string) (source, bool) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil || !inside(resolved, folders) || filepath.Ext(path) != ".py" {
		return source{}, false
	}
	info, err := os.Stat(resolved)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return source{}, false
	}
	s := source{uri: uri.File(path), name: filepath.Base(path)}
	if open := openFile(view, s.uri, info); open != nil {
		s.uri, s.version, s.text = open.URI, &open.Version, open.Text.Bytes()
		return s, !open.Broken
	}
	f, err := os.Open(resolved)
	if err != nil {
		return source{}, false
	}
	defer f.Close()
	s.text, err = io.ReadAll(io.LimitReader(f, maxSource))
	s.text = bytes.TrimPrefix(s.text, []byte("\ufeff")) // which editors do not count
	return s, err == nil
}

func inside(path string, folders []string) bool {
	for _, folder := range folders {
		if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// openFile is the open document of a file, under whatever name it was opened.
func openFile(view *session.View, key uri.URI, info os.FileInfo) *session.Snapshot {
	if d := view.Document(key); d != nil {
		return d
	}
	for _, d := range view.Documents() {
		if !d.Key.IsFile() || filepath.Base(d.Key.FsPath()) != info.Name() {
			continue
		}
		if other, err := os.Stat(d.Key.FsPath()); err == nil && os.SameFile(info, other) {
			return d
		}
	}
	return nil
}

// find sets the frame's line: where the traceback says, or where the line that it
// quotes now stands, if only one place has it. A file without that line is
// another file, or one that has changed too much to be edited.
func (s *source) find(frame incident.Frame) bool {
	lines := bytes.Split(s.text, []byte("\n"))
	quoted := []byte(strings.TrimSpace(frame.Text))
	is := func(line []byte) bool { return bytes.Equal(bytes.TrimSpace(line), quoted) }
	if n := frame.Line; n >= 1 && n <= len(lines) && (len(quoted) == 0 || is(lines[n-1])) {
		s.line = n
		return true
	}
	if len(quoted) == 0 {
		return false
	}
	for i, line := range lines {
		if is(line) {
			if s.line > 0 {
				return false
			}
			s.line = i + 1
		}
	}
	return s.line > 0
}
