package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/server/files"
	"github.com/graphtrap/graphtrap/server/session"
)

// diagnoseArguments is the one argument of [CommandDiagnose]: exactly one of text,
// uri, path and folder says what to read.
type diagnoseArguments struct {
	// Text is diagnosed as it is.
	Text *string `json:"text"`
	// URI is an open document, or else a file or folder; Range is a selection in it.
	URI   *string         `json:"uri"`
	Range *protocol.Range `json:"range"`
	// Path is a file on disk, of any size, or a folder.
	Path *string `json:"path"`
	// Folder is a folder of logs that belong together.
	Folder *string `json:"folder"`
	// Format is "json" (the report itself), "markdown" or "text" (the report and
	// its rendered form).
	Format string `json:"format"`
}

// rendered is the answer in a format for people.
type rendered struct {
	Report   *incident.Report `json:"report"`
	Rendered string           `json:"rendered"`
}

func (s *Server) diagnoseCommand(ctx context.Context, view *session.View, p *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	a, err := argument[diagnoseArguments](CommandDiagnose, p.Arguments, "text, uri, path or folder")
	if err != nil {
		return nil, err
	}
	if err := a.check(); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	}
	what, err := s.subject(view, a)
	if err != nil {
		return nil, err
	}
	analysis, err := s.diagnoseWithProgress(ctx, view.Client, p.WorkDoneToken, what)
	if err != nil {
		return nil, err
	}
	s.follow(what.path, analysis)
	if a.Format == "" || a.Format == "json" {
		return json.Marshal(analysis.Report)
	}
	text, err := what.rendered(analysis.Report, a.Format)
	if err != nil {
		return nil, err
	}
	return json.Marshal(rendered{analysis.Report, text})
}

func (a *diagnoseArguments) check() error {
	given := 0
	for _, p := range []*string{a.Text, a.URI, a.Path, a.Folder} {
		if p != nil {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("give exactly one of text, uri, path and folder")
	case a.Range != nil && a.URI == nil:
		return errors.New("a range needs a uri")
	}
	switch a.Format {
	case "", "json", "markdown", "text":
		return nil
	}
	return fmt.Errorf("unknown format %q: use json, markdown or text", a.Format)
}

// subject is something to be diagnosed.
type subject struct {
	// name is how the user is told of it.
	name string
	// link names a place of it; nil where the report's own line numbers are right.
	link    render.Link
	analyze func(context.Context) (*analyzer.Analysis, error)
	// now tells how far analyze is, in bytes.
	now func() (done, total int64)
	// path is where it lies on disk; empty for what is read from somewhere else.
	// Paths in the report that are relative start from dir.
	path, dir string
	// document is the version that is read; nil for what is not open.
	document *session.Snapshot
}

// subject is what the arguments name.
func (s *Server) subject(view *session.View, a *diagnoseArguments) (*subject, error) {
	switch {
	case a.Text != nil:
		return s.subjectBytes(view, "", "text", []byte(*a.Text), nil), nil
	case a.Path != nil:
		return s.subjectPath(view, *a.Path)
	case a.Folder != nil:
		return s.subjectFolder(view, *a.Folder)
	}
	key, err := canonical(*a.URI)
	if err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	}
	d := view.Document(key)
	switch {
	case d == nil && !key.IsFile():
		return nil, fmt.Errorf("%s is not open: open it, or give its text", *a.URI)
	case d == nil && a.Range != nil:
		return nil, fmt.Errorf("%s is not open: a range is of an open document", *a.URI)
	case d == nil:
		return s.subjectPath(view, key.FsPath())
	case d.Broken:
		return nil, fmt.Errorf("the text of %s is not known any more: close and reopen it", *a.URI)
	case a.Range != nil:
		return s.subjectBytes(view, d.Key, displayName(view, d), selection(d, *a.Range), links(d)), nil
	}
	return s.subjectDocument(view, s.ask(d)), nil
}

// subjectBytes is a text; key is the document that it is part of, if any.
func (s *Server) subjectBytes(view *session.View, key uri.URI, name string, text []byte, link render.Link) *subject {
	var seen scanned
	file := analyzer.File{Path: name, Data: bytes.NewReader(text), Size: int64(len(text))}
	return &subject{name: path.Base(filepath.ToSlash(name)), link: link, now: seen.now,
		analyze: func(ctx context.Context) (*analyzer.Analysis, error) {
			return s.analyze(ctx, view.Settings(key), seen.tell, file)
		},
	}
}

// subjectDocument is an open document, whose analysis is shared with all who ask.
func (s *Server) subjectDocument(view *session.View, d *session.Snapshot) *subject {
	return &subject{name: path.Base(filepath.ToSlash(displayName(view, d))), link: links(d), document: d,
		analyze: func(ctx context.Context) (*analyzer.Analysis, error) { return s.analysis(ctx, d) },
		now:     func() (done, total int64) { return d.Scanned.Load(), int64(d.Text.Len()) },
	}
}

// subjectPath is a file or a folder on disk. A relative path starts from the first
// workspace folder; the report names it as it was given.
func (s *Server) subjectPath(view *session.View, given string) (*subject, error) {
	dir, whole := "", filepath.Clean(given)
	if !filepath.IsAbs(given) {
		if len(view.Folders) == 0 || !view.Folders[0].IsFile() {
			return nil, fmt.Errorf("%s is a relative path and there is no workspace folder to start from: give the whole path", given)
		}
		dir = view.Folders[0].FsPath()
		whole = filepath.Join(dir, given)
	}
	var seen scanned
	return &subject{name: filepath.Base(whole), path: whole, dir: dir, now: seen.now,
		analyze: func(ctx context.Context) (*analyzer.Analysis, error) {
			opened, err := files.Open(ctx, dir, given)
			if err != nil {
				return nil, err
			}
			defer opened.Close()
			analysis, err := s.analyze(ctx, view.Settings(uri.File(whole)), seen.tell, opened.Files...)
			if err == nil {
				analysis.Report.Notes = append(analysis.Report.Notes, opened.Notes...)
			}
			return analysis, err
		},
	}, nil
}

// subjectFolder is a folder, given by its path or URI.
func (s *Server) subjectFolder(view *session.View, given string) (*subject, error) {
	if strings.HasPrefix(given, "file:") {
		key, err := canonical(given)
		if err != nil {
			return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
		}
		given = key.FsPath()
	}
	what, err := s.subjectPath(view, given)
	if err != nil {
		return nil, err
	}
	read := what.analyze
	what.analyze = func(ctx context.Context) (*analyzer.Analysis, error) {
		if info, err := os.Stat(what.path); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is no folder: give it as path", given)
		}
		return read(ctx)
	}
	return what, nil
}

// diagnoseWithProgress has a subject analysed, and shows the user how far it is.
func (s *Server) diagnoseWithProgress(ctx context.Context, client session.Client, token protocol.ProgressToken, what *subject) (*analyzer.Analysis, error) {
	ctx, shown := s.startProgress(ctx, client, token, "Diagnosing "+what.name, what.now)
	analysis, err := what.analyze(ctx)
	switch {
	case err == nil:
		shown.finish(analysis.Report.Verdict.Title)
	case ctx.Err() != nil:
		shown.finish("Cancelled")
	default:
		shown.finish("Failed")
	}
	return analysis, err
}

// ask has a document diagnosed from now on, because the user asked for it.
func (s *Server) ask(d *session.Snapshot) *session.Snapshot {
	if d.Watched() {
		return d
	}
	asked := d.Next(d.Version, d.Text)
	asked.Asked = true
	if s.store.Replace(d, asked) {
		s.diagnose(asked, false)
		s.refreshDiagnostics()
		s.refreshDecoration()
	}
	return asked
}

// selection is the document with all but the selected text blanked out, so that
// what the report says of lines and offsets holds for the document.
func selection(d *session.Snapshot, r protocol.Range) []byte {
	start, end := d.Text.Offset(r.Start), d.Text.Offset(r.End)
	end = max(start, end)
	text := bytes.Clone(d.Text.Bytes()[:end])
	for i, c := range text[:start] {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
	return text
}

// rendered shapes the report on the subject for people.
func (w *subject) rendered(r *incident.Report, format string) (string, error) {
	if format == "markdown" {
		return w.markdown(r), nil
	}
	var b strings.Builder
	err := render.Text(&b, r, render.TextOptions{})
	return b.String(), err
}
