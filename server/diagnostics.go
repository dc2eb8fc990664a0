package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/server/session"
	"github.com/graphtrap/graphtrap/server/settings"
)

// Source is the source of all our diagnostics.
const Source = "graphtrap"

// maxRelated bounds the related lines of one diagnostic: editors show all of them
// above the hover. The message counts the rest.
const maxRelated = 6

// diagnose has a version of a document analysed and, unless the client pulls, its
// diagnostics published; if wait is set, after a moment without changes.
func (s *Server) diagnose(d *session.Snapshot, wait bool) {
	if !d.Analysable() {
		s.scheduler.drop(d.Key)
		if d.Broken {
			s.clear(d)
		}
		return
	}
	if s.settingsAwaited.Load() {
		return // until they are there
	}
	when := atOnce
	switch {
	case wait && d.Grew():
		when = afterTheOther
	case wait:
		when = afterAPause
	}
	s.scheduler.submit(s.base, d.Key, when, func(ctx context.Context, since time.Time) {
		if now := s.store.View().Document(d.Key); now != nil { // it may have changed once more
			s.diagnoseNow(ctx, now, since)
		}
	})
}

// diagnoseNow publishes the diagnostics of a version. What was published before stays
// until then. since is when the document changed first after the version before.
func (s *Server) diagnoseNow(ctx context.Context, d *session.Snapshot, since time.Time) {
	defer func() {
		if p := recover(); p != nil {
			s.logPanic("diagnostics", session.Recovered(p))
		}
	}()
	analysis, err := s.analysis(ctx, d)
	if ctx.Err() != nil {
		return
	}
	s.refreshReport(d.Key, d)
	turned := d.Turned()
	if turned {
		s.refreshLenses()
		s.refreshDecoration()
		s.refreshDiagnostics()
	}
	found := []protocol.Diagnostic{}
	var panicked *session.PanicError
	switch {
	case errors.As(err, &panicked):
		s.logPanic("analysis", panicked, zap.Int("bytes", d.Text.Len()))
	case err != nil:
		s.log.Error("analysis failed", zap.Stringer("uri", d.Key), zap.Int("bytes", d.Text.Len()), zap.Error(err))
	case d.Watched():
		found = diagnostics(s.store.View().Client, d, analysis.Report)
	}
	switch {
	case s.store.View().Client.PullsDiagnostics:
		return // the analysis is there for when it asks
	case !d.Watched() && !turned:
		return // it may be a log, and is none
	}
	s.outbox.publish(&protocol.PublishDiagnosticsParams{
		URI: d.URI, Version: protocol.NewOptional(d.Version), Diagnostics: found,
	}, func() bool { return s.fresh(d, since) })
}

// fresh reports whether what was found in a version may still be published: the
// version is the current one. One whose text has only got more behind it counts as
// well when the user has waited for so long that it is better than what is shown:
// every line of it still stands where it stood.
func (s *Server) fresh(d *session.Snapshot, since time.Time) bool {
	now := s.store.View().Document(d.Key)
	return now == d || now != nil && time.Since(since) > maxWait && now.GrownFrom(d)
}

// forget ends what was going on for a document that is not open any more.
func (s *Server) forget(d *session.Snapshot) {
	s.scheduler.drop(d.Key)
	if d.Spoken() {
		s.clear(d)
	}
}

// clear takes back the diagnostics that were published of a document. A client
// that pulls forgets by itself what it has of a document that it closed.
func (s *Server) clear(d *session.Snapshot) {
	if !s.store.View().Client.PullsDiagnostics {
		s.outbox.clear(d)
	}
}

// analysis is the report on a version of a document. It is made once, for all who
// ask.
func (s *Server) analysis(ctx context.Context, d *session.Snapshot) (*analyzer.Analysis, error) {
	return d.Analysis.Get(ctx, s.base, func(ctx context.Context) (*analyzer.Analysis, error) {
		tell := func(scanned, _ int64) { d.Scanned.Store(scanned) }
		earlier, same := d.Earlier() // what it has read of the same text is not read again
		follow := func(engine *analyzer.Analyzer) *analyzer.Analyzer { return engine.Following(earlier, same) }
		a, err := s.analyzeBy(ctx, d.Settings, follow, tell, analyzer.File{
			Path: displayName(s.store.View(), d), Data: bytes.NewReader(d.Text.Bytes()), Size: int64(d.Text.Len()),
		})
		if err != nil {
			return nil, err
		}
		d.Analysed(a)
		if d.Doubtful() {
			d.Mark(a.Marked())
		}
		return a, nil
	})
}

// analyze runs the analyzer when it is its turn, with the signatures that the
// settings name. tell is told how far it is; see [analyzer.Options].
func (s *Server) analyze(ctx context.Context, with *settings.Settings, tell func(scanned, total int64), incident ...analyzer.File) (*analyzer.Analysis, error) {
	as := func(engine *analyzer.Analyzer) *analyzer.Analyzer { return engine }
	return s.analyzeBy(ctx, with, as, tell, incident...)
}

// analyzeBy is analyze with an analyzer made of the one for the signatures.
func (s *Server) analyzeBy(ctx context.Context, with *settings.Settings, of func(*analyzer.Analyzer) *analyzer.Analyzer, tell func(scanned, total int64), incident ...analyzer.File) (a *analyzer.Analysis, err error) {
	select {
	case s.analyses <- struct{}{}:
		defer func() { <-s.analyses }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	start := time.Now()
	s.statistics.begin()
	defer func() { s.statistics.end(start, incident, ctx.Err() != nil, err) }()
	if s.config.Analyze != nil {
		a, err = s.config.Analyze(ctx, incident, analyzer.Options{Version: s.config.Version, Progress: tell})
	} else {
		_, engine, wrong := s.knowledge.with(with.SignatureFolder)
		if engine == nil {
			return nil, wrong
		}
		a, err = of(engine).WithProgress(tell).Diagnose(ctx, incident)
	}
	if err == nil && (a == nil || a.Report == nil) {
		err = errors.New("the analyzer gave no report")
	}
	return a, err
}

// displayName is how reports and messages name a document: by its path inside the
// workspace folder that holds it, else by its whole path.
func displayName(view *session.View, d *session.Snapshot) string {
	if !d.Key.IsFile() {
		return path.Base(d.Key.Path())
	}
	file := d.Key.FsPath()
	for _, root := range view.Folders {
		if !root.IsFile() {
			continue
		}
		if rel, err := filepath.Rel(root.FsPath(), file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return file
}

// diagnostics shows a report on the lines of its document, as far as the user's
// settings let it.
func diagnostics(c session.Client, d *session.Snapshot, r *incident.Report) []protocol.Diagnostic {
	found := []protocol.Diagnostic{}
	all := marks(r, d.Text)
	show := newShown(d.Settings, r)
	for _, m := range all {
		diagnostic := protocol.Diagnostic{
			Range:  d.Text.Range(m.start, m.end),
			Source: protocol.NewOptional(Source),
		}
		signature := r.Verdict.Signature
		switch m.kind {
		case markInitiator:
			diagnostic.Severity = severity(r)
			diagnostic.Message = protocol.String(headline(r, m.offset))
			if c.RelatedInformation {
				diagnostic.RelatedInformation = related(d, show.inOrder(all[1:]))
			}
		case markCoInitiator:
			diagnostic.Severity = severity(r)
			diagnostic.Message = protocol.String(named(name(m.initiator), "failed at the same time as "+place(d.Text, all[0].start)))
		case markCollateral:
			severity, wanted := show.collateral(m.collateral)
			if !wanted {
				continue
			}
			diagnostic.Severity = severity
			diagnostic.Message = protocol.String(suffering(d, r, all[0], m.collateral))
			signature = &m.collateral.Signature
			if c.UnnecessaryTag {
				diagnostic.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagUnnecessary)
			}
		}
		if signature != nil && *signature != "" {
			diagnostic.Code = protocol.String(*signature)
			if show.suppressed(m, *signature) {
				continue
			}
		}
		found = append(found, diagnostic)
	}
	return found
}

func severity(r *incident.Report) protocol.DiagnosticSeverity {
	if r.Verdict.Status == incident.Undetermined {
		return protocol.DiagnosticSeverityWarning
	}
	return protocol.DiagnosticSeverityError
}

// headline is the answer in one line: the verdict's title, what its own line
// shows, and the fact that is missing.
func headline(r *incident.Report, offset int64) string {
	v := &r.Verdict
	title := lowerFirst(v.Title)
	if v.Status == incident.Undetermined && !strings.HasPrefix(title, "undetermined") {
		title = "undetermined: " + title
	}
	if v.Status == incident.Diagnosed && v.Confidence != "" && v.Confidence != incident.Confirmed {
		title += " (" + string(v.Confidence) + ")"
	}
	for _, e := range v.Evidence {
		if e.Location.Offset == offset && isSet(&e.Location) && e.For == incident.Supports {
			title += "; " + e.Says
			break
		}
	}
	if m := v.MissingFact; m != nil {
		title += "; needed: " + m.Fact
		if m.How != "" {
			title += ": " + m.How
		}
	}
	if n := len(v.Collateral); n > 0 {
		title += fmt.Sprintf("; %d collateral", n)
	}
	return title
}

// lowerFirst makes the first word one that stands in a sentence, unless it is
// written in capitals: "Rank 17" becomes "rank 17", "NCCL" stays.
func lowerFirst(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if word == "" || word[0] < 'A' || word[0] > 'Z' || strings.ToLower(word[1:]) != word[1:] {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// suffering says of a line whose fault it is not.
func suffering(d *session.Snapshot, r *incident.Report, verdict mark, c *incident.Collateral) string {
	role := c.Role
	if role == "" {
		role = incident.RoleCollateral
	}
	message := string(role)
	if who := name(r.Verdict.Initiator); who != "" {
		message += fmt.Sprintf(" of %s (%s)", who, place(d.Text, verdict.start))
	} else {
		message += fmt.Sprintf(" of %s", place(d.Text, verdict.start))
	}
	if c.Why != "" {
		message += ": " + c.Why
	}
	return message
}

// related lists the lines that belong to the verdict, the first maxRelated of them.
func related(d *session.Snapshot, others []mark) []protocol.DiagnosticRelatedInformation {
	var list []protocol.DiagnosticRelatedInformation
	for _, m := range others[:min(len(others), maxRelated)] {
		message, who := "failed at the same time", name(m.initiator)
		if c := m.collateral; c != nil {
			message, who = c.Why, incident.Origin{Rank: c.Rank}.Name()
			if message == "" {
				message = string(c.Role)
			}
		}
		list = append(list, protocol.DiagnosticRelatedInformation{
			Location: protocol.Location{URI: d.URI, Range: d.Text.Range(m.start, m.end)},
			Message:  named(who, message),
		})
	}
	return list
}

// named says who something is said of, where that is known.
func named(who, what string) string {
	if who == "" {
		return what
	}
	return who + ": " + what
}
