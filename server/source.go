package server

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/session"
	"github.com/graphtrap/graphtrap/server/settings"
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

// Bounds of what is looked for in one request.
const (
	// maxPlaces bounds the places that are looked at for files.
	maxPlaces = 20_000
	// maxSources bounds the bytes of the files that are read.
	maxSources = 64 << 20
)

// sources finds the files that the frames of one log name, and reads each of them
// once. It serves one request.
type sources struct {
	view     *session.View
	settings *settings.Settings
	folders  []string // in which a file must lie, with links followed
	roots    []string // under which it is looked for
	places   map[string]*source
	bytes    int
}

func newSources(view *session.View, log *session.Snapshot) *sources {
	s := &sources{view: view, settings: log.Settings, places: map[string]*source{}}
	for _, f := range view.Folders {
		if !f.IsFile() {
			continue
		}
		if resolved, err := filepath.EvalSymlinks(f.FsPath()); err == nil {
			s.folders, s.roots = append(s.folders, resolved), append(s.roots, f.FsPath())
		}
	}
	if log.Key.IsFile() {
		s.roots = append(s.roots, filepath.Dir(log.Key.FsPath()))
	}
	return s
}

// find finds the file of a frame. A log often comes from another machine, so the
// file may lie elsewhere than the traceback says: where the user's path mappings
// say, under a workspace folder or beside the log, by as much of its path as fits.
// It must lie inside a workspace folder, links followed, and have the line that the
// traceback quotes.
func (s *sources) find(frame incident.Frame) (source, bool) {
	for _, candidate := range append(s.mapped(frame.Path), candidates(frame.Path, s.roots)...) {
		if found := s.at(candidate); found != nil {
			at := *found
			if at.find(frame) {
				return at, true
			}
		}
	}
	return source{}, false
}

// show finds the place of a frame for one who wants to look at it, not to edit it:
// the user's path mappings may lead out of the workspace, and where the file stands
// exactly where it was, the line is shown even if its text has changed.
func (s *sources) show(frame incident.Frame) (source, bool) {
	if s.settings != nil {
		for _, m := range s.settings.PathMappings {
			if to, err := filepath.EvalSymlinks(m.To); err == nil && filepath.IsAbs(to) && !slices.Contains(s.folders, to) {
				s.folders = append(s.folders, to)
			}
		}
	}
	if found, ok := s.find(frame); ok {
		return found, true
	}
	places := s.mapped(frame.Path)
	if filepath.IsAbs(frame.Path) {
		places = append(places, filepath.Clean(frame.Path))
	}
	for _, place := range places {
		if found := s.at(place); found != nil {
			at := *found
			at.line = min(max(frame.Line, 1), bytes.Count(at.text, []byte("\n"))+1)
			return at, true
		}
	}
	return source{}, false
}

// mapped are the places that the user's path mappings give. Those that are no whole
// path start from the workspace's folders.
func (s *sources) mapped(path string) []string {
	if s.settings == nil {
		return nil
	}
	var places []string
	for _, place := range s.settings.Map(path) {
		if filepath.IsAbs(place) {
			places = append(places, filepath.Clean(place))
			continue
		}
		for _, root := range s.roots {
			places = append(places, filepath.Join(root, place))
		}
	}
	return places
}

// at is the file at a place; nil if there is none that counts.
func (s *sources) at(path string) *source {
	found, known := s.places[path]
	if known || len(s.places) >= maxPlaces || s.bytes >= maxSources {
		return found
	}
	if read, ok := readSource(s.view, path, s.folders); ok {
		found = &read
		s.bytes += len(read.text)
	}
	s.places[path] = found
	return found
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
	if filepath.Ext(path) != ".py" {
		return source{}, false
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil || !inside(resolved, folders) {
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
