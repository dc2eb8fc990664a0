package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/server/session"
)

// ReportScheme is the scheme of the documents whose text the server gives: the
// report of a document is at graphtrap:report?URI; see reportURI.
const ReportScheme = "graphtrap"

const reportPrefix = ReportScheme + ":report?"

// maxReports bounds the reports that are refreshed when their document changes: of
// more, those that were read last.
const maxReports = 64

// reportArguments is the one argument of [CommandReport].
type reportArguments struct {
	// URI is an open document, or a file.
	URI string `json:"uri"`
}

// reportAnswer is the answer of [CommandReport]: the document that holds the
// report, for a client that can ask for its text, else the text.
type reportAnswer struct {
	URI      string `json:"uri,omitempty"`
	Markdown string `json:"markdown,omitempty"`
}

func (s *Server) reportCommand(ctx context.Context, view *session.View, p *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	a, err := argument[reportArguments](CommandReport, p.Arguments, "uri")
	if err != nil {
		return nil, err
	}
	what, err := s.subjectReport(view, a.URI)
	if err != nil {
		return nil, err
	}
	analysis, err := s.diagnoseWithProgress(ctx, view.Client, p.WorkDoneToken, what)
	if err != nil {
		return nil, err
	}
	s.watchLog(what.path)
	if view.Client.TextDocumentContent {
		return json.Marshal(reportAnswer{URI: string(reportURI(a.URI))})
	}
	return json.Marshal(reportAnswer{Markdown: what.markdown(analysis.Report)})
}

// subjectReport is the document or file of a report.
func (s *Server) subjectReport(view *session.View, spelled string) (*subject, error) {
	return s.subject(view, &diagnoseArguments{URI: &spelled})
}

// markdown is the report on the subject, with links to its lines.
func (w *subject) markdown(r *incident.Report) string {
	link := w.link
	if link == nil {
		link = fileLinks(w.dir, len(r.Input.Files) > 1)
	}
	return render.Markdown(r, link)
}

// fileLinks names places of files that are not open. Relative paths start from dir;
// without one they lead nowhere, and lines of compressed files cannot be shown.
func fileLinks(dir string, several bool) render.Link {
	return func(at incident.Location) string {
		name := fmt.Sprintf("line %d", at.Line)
		if several {
			name = fmt.Sprintf("%s line %d", path.Base(at.File), at.Line)
		}
		file := filepath.FromSlash(at.File)
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		if end := path.Ext(at.File); !filepath.IsAbs(file) || end == ".gz" || end == ".zst" {
			return strings.NewReplacer("[", `\[`, "]", `\]`, "_", `\_`).Replace(name)
		}
		return fmt.Sprintf("[%s](%s#L%d)", strings.NewReplacer("[", `\[`, "]", `\]`).Replace(name), uri.File(file), at.Line)
	}
}

// inQuery encodes what would mean something else in the query of a URI.
var inQuery = strings.NewReplacer("%", "%25", "#", "%23", " ", "%20")

// reportURI is the document that holds the report of a document.
func reportURI(of string) uri.URI { return uri.URI(reportPrefix + inQuery.Replace(of)) }

// contentProvider tells a client that knows such documents that there are some.
func contentProvider(c session.Client) protocol.WorkspaceOptionsTextDocumentContent {
	if !c.TextDocumentContent {
		return nil
	}
	return &protocol.TextDocumentContentOptions{Schemes: []string{ReportScheme}}
}

type contentParams struct {
	URI string `json:"uri"`
}

// textDocumentContent gives the text of a report's document.
func (s *Server) textDocumentContent(ctx context.Context, view *session.View, p *contentParams) (*protocol.TextDocumentContentResult, error) {
	of, ok := reportOf(p.URI)
	if !ok {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%s is no document of graphtrap's: it gives %sURI", p.URI, reportPrefix)
	}
	what, err := s.subjectReport(view, of)
	if err != nil {
		return nil, err
	}
	if key, err := canonical(of); err == nil {
		s.reports.read(key, p.URI, what.document) // first, so that no change is missed
		s.watchLog(what.path)
	}
	analysis, err := what.analyze(ctx)
	if err != nil {
		return nil, err
	}
	return &protocol.TextDocumentContentResult{Text: what.markdown(analysis.Report)}, nil
}

// reportOf is the document that a report's URI names. Editors encode more or less
// of it than we do.
func reportOf(spelled string) (string, bool) {
	encoded, ok := strings.CutPrefix(spelled, reportPrefix)
	if !ok || encoded == "" {
		return "", false
	}
	of, err := url.PathUnescape(encoded)
	return of, err == nil && of != ""
}

// reports are the documents whose reports the client has read, each with the
// report's URI as the client spelled it.
type reports struct {
	mu    sync.Mutex
	known map[uri.URI]readReport
	order []uri.URI // the one read last comes last
	// outdated are the reports of which the client is to be told.
	outdated []string
}

// readReport is a report's URI, and the version of the document that it was read of;
// nil for a file.
type readReport struct {
	spelled string
	version *session.Snapshot
}

func (r *reports) read(of uri.URI, spelled string, version *session.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[uri.URI]readReport{}
	}
	r.known[of] = readReport{strings.Clone(spelled), version}
	r.order = append(slices.DeleteFunc(r.order, func(o uri.URI) bool { return o == of }), of)
	if len(r.order) > maxReports {
		delete(r.known, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
}

// refreshReport tells the client that the report of a document, if it has read it,
// is another one now; version is the document's, nil for a file.
func (s *Server) refreshReport(of uri.URI, version *session.Snapshot) {
	if s.reports.outdate(of, version) {
		s.refreshes.want(s.base, s.log, protocol.MethodWorkspaceTextDocumentContentRefresh, s.refreshReports)
	}
}

// refreshReports tells the client of all reports that are outdated.
func (s *Server) refreshReports(ctx context.Context) error {
	for _, spelled := range s.reports.takeOutdated() {
		if err := s.client.TextDocumentContentRefresh(ctx, &protocol.TextDocumentContentRefreshParams{URI: uri.URI(spelled)}); err != nil {
			return err
		}
	}
	return nil
}

// outdate marks the report of a document, and reports whether the client has one of
// another version.
func (r *reports) outdate(of uri.URI, version *session.Snapshot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.known[of]
	if !ok || version != nil && known.version == version {
		return false
	}
	if !slices.Contains(r.outdated, known.spelled) {
		r.outdated = append(r.outdated, known.spelled)
	}
	return true
}

func (r *reports) takeOutdated() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.outdated
	r.outdated = nil
	return taken
}
