package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/server/files"
	"github.com/graphtrap/graphtrap/server/session"
)

// diagnoseArguments is the one argument of [CommandDiagnose]: exactly one of text,
// uri and path says what to read.
type diagnoseArguments struct {
	// Text is diagnosed as it is.
	Text *string `json:"text"`
	// URI is an open document, or else a file; Range is a selection in it.
	URI   *string         `json:"uri"`
	Range *protocol.Range `json:"range"`
	// Path is a file on disk, of any size.
	Path *string `json:"path"`
	// Format is "json" (the report itself), "markdown" or "text" (the report and
	// its rendered form).
	Format string `json:"format"`
}

// rendered is the answer in a format for people.
type rendered struct {
	Report   *incident.Report `json:"report"`
	Rendered string           `json:"rendered"`
}

func (s *Server) executeCommand(ctx context.Context, view *session.View, p *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	switch p.Command {
	case CommandDiagnose:
		return s.diagnoseCommand(ctx, view, p.Arguments)
	case CommandCopyText:
		return s.copyText(p.Arguments)
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "unknown command: %s", p.Command)
}

// copyText shows the text to the user. Clients with a clipboard serve the command
// themselves and never send it.
func (s *Server) copyText(arguments []protocol.LSPAny) (protocol.LSPAny, error) {
	var text string
	if len(arguments) != 1 || json.Unmarshal(arguments[0], &text) != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s takes one argument, a text", CommandCopyText)
	}
	s.outbox.show(protocol.MessageTypeInfo, text)
	return protocol.LSPAny("null"), nil
}

func (s *Server) diagnoseCommand(ctx context.Context, view *session.View, arguments []protocol.LSPAny) (protocol.LSPAny, error) {
	var a diagnoseArguments
	if len(arguments) != 1 {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s takes one argument, an object with text, uri or path", CommandDiagnose)
	}
	if err := json.Unmarshal(arguments[0], &a); err != nil {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "bad argument of %s: %v", CommandDiagnose, err)
	}
	if err := a.check(); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	}
	analysis, link, err := s.diagnoseArgument(ctx, view, &a)
	if err != nil {
		return nil, err
	}
	if a.Format == "" || a.Format == "json" {
		return json.Marshal(analysis.Report)
	}
	text, err := renderReport(analysis.Report, a.Format, link)
	if err != nil {
		return nil, err
	}
	return json.Marshal(rendered{analysis.Report, text})
}

func (a *diagnoseArguments) check() error {
	given := 0
	for _, p := range []*string{a.Text, a.URI, a.Path} {
		if p != nil {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("give exactly one of text, uri and path")
	case a.Range != nil && a.URI == nil:
		return errors.New("a range needs a uri")
	}
	switch a.Format {
	case "", "json", "markdown", "text":
		return nil
	}
	return fmt.Errorf("unknown format %q: use json, markdown or text", a.Format)
}

// diagnoseArgument analyses what the argument names, and says how to link to
// lines of it; nil where the report's own line numbers are right.
func (s *Server) diagnoseArgument(ctx context.Context, view *session.View, a *diagnoseArguments) (*analyzer.Analysis, render.Link, error) {
	if a.Text != nil {
		analysis, err := s.analyzeBytes(ctx, "text", []byte(*a.Text))
		return analysis, nil, err
	}
	if a.Path != nil {
		analysis, err := s.analyzePath(ctx, view, *a.Path)
		return analysis, nil, err
	}
	key, err := canonical(*a.URI)
	if err != nil {
		return nil, nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	}
	d := view.Document(key)
	switch {
	case d == nil && !key.IsFile():
		return nil, nil, fmt.Errorf("%s is not open: open it, or give its text", *a.URI)
	case d == nil && a.Range != nil:
		return nil, nil, fmt.Errorf("%s is not open: a range is of an open document", *a.URI)
	case d == nil:
		analysis, err := s.analyzePath(ctx, view, key.FsPath())
		return analysis, nil, err
	case d.Broken:
		return nil, nil, fmt.Errorf("the text of %s is not known any more: close and reopen it", *a.URI)
	case a.Range != nil:
		analysis, err := s.analyzeBytes(ctx, displayName(view, d), selection(d, *a.Range))
		return analysis, links(d), err
	}
	analysis, err := s.analysis(ctx, s.ask(d))
	return analysis, links(d), err
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

func (s *Server) analyzeBytes(ctx context.Context, name string, text []byte) (*analyzer.Analysis, error) {
	return s.analyze(ctx, analyzer.File{Path: name, Data: bytes.NewReader(text), Size: int64(len(text))})
}

func (s *Server) analyzePath(ctx context.Context, view *session.View, path string) (*analyzer.Analysis, error) {
	dir := ""
	if !filepath.IsAbs(path) {
		if len(view.Folders) == 0 || !view.Folders[0].IsFile() {
			return nil, fmt.Errorf("%s is a relative path and there is no workspace folder to start from: give the whole path", path)
		}
		dir = view.Folders[0].FsPath()
	}
	opened, err := files.Open(dir, path)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	analysis, err := s.analyze(ctx, opened.Files...)
	if err == nil {
		analysis.Report.Notes = append(analysis.Report.Notes, opened.Notes...)
	}
	return analysis, err
}

// renderReport shapes a report for people. link may be nil.
func renderReport(r *incident.Report, format string, link render.Link) (string, error) {
	if format == "markdown" {
		return render.Markdown(r, link), nil
	}
	var b strings.Builder
	err := render.Text(&b, r, render.TextOptions{})
	return b.String(), err
}
