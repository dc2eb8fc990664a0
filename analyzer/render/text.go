// Package render shows a report: as text for a terminal, as Markdown for an
// editor. It adds nothing to what the report says.
package render

import (
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// DefaultWidth is the width of a terminal that does not say its own.
const DefaultWidth = 80

// TextOptions tune the text for the terminal that shows it.
type TextOptions struct {
	Color bool
	// Width is in columns; 0 means DefaultWidth.
	Width int
	// Why adds how the verdict was reached.
	Why bool
}

// Bounds that keep a verdict on one screen.
const (
	maxEvidence = 6
	maxQuote    = 2  // lines of the initiating line
	maxName     = 32 // characters of a file's name in front of a line number
)

// Text prints the answer, then its proof, then what to do.
func Text(w io.Writer, r *incident.Report, opts TextOptions) error {
	if opts.Width <= 0 {
		opts.Width = DefaultWidth
	}
	t := &page{opts: opts, several: len(r.Input.Files) > 1}
	t.verdict(r)
	_, err := io.WriteString(w, t.b.String())
	return err
}

type page struct {
	b    strings.Builder
	opts TextOptions
	// several files were read, so that a line number alone names no line.
	several bool
}

// place is a line number, with the file's name in front where there are several.
func (t *page) place(at incident.Location) string {
	if !t.several {
		return fmt.Sprint(at.Line)
	}
	name := []rune(printable(path.Base(at.File)))
	if len(name) > maxName {
		name = append([]rune("..."), name[len(name)-maxName+3:]...)
	}
	return fmt.Sprintf("%s:%d", string(name), at.Line)
}

// The colours carry nothing that the words do not.
const (
	bold  = "1"
	red   = "31"
	green = "32"
	amber = "33"
	faint = "2"
)

func (t *page) color(code, s string) string {
	if !t.opts.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *page) line(s string) { t.b.WriteString(strings.TrimRight(s, " ") + "\n") }

func (t *page) blank() { t.b.WriteString("\n") }

func (t *page) verdict(r *incident.Report) {
	v := &r.Verdict
	t.headline(v)
	if v.Status == incident.NoFailureFound {
		t.source(r)
		t.paragraph("", v.Summary)
		t.notes(r)
		if t.opts.Why {
			t.why(v)
		}
		return
	}
	t.where(r)
	t.evidence(v)
	t.fell(v)
	t.missing(v)
	t.fix(v)
	t.check(v)
	t.notes(r)
	if t.opts.Why {
		t.why(v)
	}
}

// headline is the answer: who and what, and how sure.
func (t *page) headline(v *incident.Verdict) {
	code := red
	switch v.Status {
	case incident.Undetermined:
		code = amber
	case incident.NoFailureFound:
		code = green
	}
	sure := ""
	if v.Status != incident.NoFailureFound {
		sure = string(v.Confidence)
	}
	lines := wrap(upper(v.Title), t.opts.Width-len(sure)-2)
	for i, l := range lines {
		if i == 0 && sure != "" {
			pad := max(2, t.opts.Width-columns(l)-len(sure))
			t.line(t.color(bold+";"+code, l) + strings.Repeat(" ", pad) + sure)
			continue
		}
		t.line(t.color(bold+";"+code, l))
	}
}

// where names the process and quotes the line that states the failure.
func (t *page) where(r *incident.Report) {
	i := r.Verdict.Initiator
	if i == nil || i.StatedAt == nil {
		t.source(r)
		t.paragraph("", r.Verdict.Summary)
		return
	}
	about := []string{}
	if i.Host != nil {
		about = append(about, *i.Host)
	}
	if i.LocalRank != nil {
		about = append(about, fmt.Sprintf("local rank %d", *i.LocalRank))
	}
	if i.Process != nil {
		about = append(about, *i.Process)
	}
	if i.PID != nil {
		about = append(about, fmt.Sprintf("pid %d", *i.PID))
	}
	if i.Time != nil {
		about = append(about, i.Time.Text)
	}
	at := fmt.Sprintf("%s:%d", i.StatedAt.File, i.StatedAt.Line)
	if len(about) > 0 {
		at += "   " + strings.Join(about, ", ")
	}
	t.paragraph("", at)
	t.blank()
	number := fmt.Sprintf("  %d | ", i.StatedAt.Line)
	quoted := wrap(i.StatedAt.Quoted(), t.opts.Width-len(number))
	for k, l := range quoted {
		if k == maxQuote {
			break
		}
		if k == maxQuote-1 && len(quoted) > maxQuote {
			l = clip(l, t.opts.Width-len(number)-3) + "..."
		}
		if k > 0 {
			number = strings.Repeat(" ", len(number)-2) + "| "
		}
		t.line(t.color(faint, number) + l)
	}
}

func (t *page) source(r *incident.Report) {
	if n := len(r.Input.Files); n > 3 {
		t.line(fmt.Sprintf("%d files", n))
		return
	}
	for _, f := range r.Input.Files {
		t.line(printable(fmt.Sprintf("%s   %d lines, %d bytes", f.Path, f.Lines, f.Bytes)))
	}
}

func (t *page) evidence(v *incident.Verdict) {
	if len(v.Evidence) == 0 {
		return
	}
	t.blank()
	t.line(t.color(bold, "Why"))
	width := 0
	for _, e := range v.Evidence[:min(len(v.Evidence), maxEvidence)] {
		width = max(width, columns(t.place(e.Location)))
	}
	for n, e := range v.Evidence {
		if n == maxEvidence {
			t.line(fmt.Sprintf("    and %d more in --format json", len(v.Evidence)-n))
			break
		}
		code := map[incident.Weight]string{incident.Supports: green, incident.Refutes: red, incident.Neutral: faint}[e.For]
		t.hanging(t.color(code, "  "+sign(e.For))+fmt.Sprintf(" %*s  ", width, t.place(e.Location)), 5+width+1, e.Says)
	}
	if note := graphs(v); note != "" {
		t.hanging("    ", 4, note)
	}
}

// graphs says what it is not, where people will think it is.
func graphs(v *incident.Verdict) string {
	switch v.GraphPoolIsCause {
	case incident.No:
		return "CUDA graph memory is not the cause."
	case incident.Unknown:
		return "Whether CUDA graph memory is the cause cannot be told from this log."
	}
	return ""
}

// fell puts everyone who only suffered on one line.
func (t *page) fell(v *incident.Verdict) {
	if len(v.Collateral) == 0 {
		return
	}
	first := v.Collateral[0]
	t.blank()
	t.line(t.color(bold, "Fell with it"))
	t.hanging("  ", 2, fmt.Sprintf("%s: first at line %s (%s)", collateralRanks(v), t.place(first.Location), strings.TrimSuffix(first.Why, ".")))
}

func (t *page) missing(v *incident.Verdict) {
	if v.MissingFact == nil {
		return
	}
	t.blank()
	t.hanging(t.color(bold+";"+amber, "The one fact needed: "), 2, v.MissingFact.Fact)
	t.hanging("  ", 2, v.MissingFact.How)
}

func (t *page) fix(v *incident.Verdict) {
	if len(v.Fixes) == 0 {
		return
	}
	f := v.Fixes[0]
	t.blank()
	t.hanging(t.color(bold, "Fix: "), 5, f.Title)
	for l := range strings.Lines(strings.TrimRight(f.Code, "\n")) {
		t.line("    " + printable(strings.TrimRight(l, "\n")))
	}
	t.paragraph("  ", f.Precondition+" Undo: "+f.Rollback)
	for _, other := range v.Fixes[1:] {
		t.paragraph("  ", "Or: "+other.Title)
	}
}

func (t *page) check(v *incident.Verdict) {
	if len(v.Verify) == 0 {
		return
	}
	c := v.Verify[0]
	t.hanging(t.color(bold, "Check: "), 7, c.Command)
	t.paragraph("  ", c.Expect)
	if c.Language == "python" {
		t.paragraph("  ", "(a line for the program)")
	}
}

func (t *page) notes(r *incident.Report) {
	for _, n := range append(append([]string{}, r.Coverage.Cut...), r.Notes...) {
		t.hanging(t.color(faint, "Note: "), 6, n)
	}
}

// paragraph prints wrapped text behind an indent.
func (t *page) paragraph(indent, s string) { t.hanging(indent, len(indent), s) }

// hanging prints wrapped text behind a lead that takes the first line, further
// lines indented.
func (t *page) hanging(lead string, indent int, s string) {
	width := t.opts.Width - indent
	first := columns(lead)
	for i, l := range wrapFirst(s, t.opts.Width-first, width) {
		if i == 0 {
			t.line(lead + l)
			continue
		}
		t.line(strings.Repeat(" ", indent) + l)
	}
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// columns counts characters, colour codes left out.
func columns(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			end := strings.IndexByte(s[i:], 'm')
			if end < 0 {
				break
			}
			i += end + 1
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n++
	}
	return n
}
