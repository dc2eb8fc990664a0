package render

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/signatures"
)

// Bounds of an explanation.
const (
	maxSampleLines = 20  // of a sample log
	maxSamples     = 3   // lines that match a message
	maxSampleText  = 600 // bytes of one of them
	maxNearest     = 3   // ids offered for one that does not exist
)

// Kinds of what can be explained.
const (
	KindFailure = "failure"
	KindMessage = "message"
)

// Explanation is what the signatures say of one id.
type Explanation struct {
	ID string
	// Kind is KindFailure or KindMessage.
	Kind string
	// Markdown is for editors. Text is the same for a terminal: nothing in it is
	// escaped.
	Markdown, Text string
}

// UnknownIDError is the error for an id that no signature has.
type UnknownIDError struct {
	ID string
	// Nearest are the ids most like it, the best first.
	Nearest []string
}

// Error implements the error interface.
func (e *UnknownIDError) Error() string {
	text := fmt.Sprintf("no failure and no message has the id %q", clip(printable(e.ID), 80))
	if len(e.Nearest) > 0 {
		text += "; the nearest are " + strings.Join(e.Nearest, ", ")
	}
	return text
}

// Explain tells all that the signatures hold of a failure or of a message. An id
// that both have is the failure's, with the message behind it. It fails with an
// [UnknownIDError].
func Explain(set *signatures.Set, id string) (*Explanation, error) {
	failure, message := set.Failure(id), set.Message(id)
	e := &Explanation{ID: id, Kind: KindFailure}
	switch {
	case failure == nil && message == nil:
		return nil, &UnknownIDError{ID: id, Nearest: Nearest(set, id)}
	case failure == nil:
		e.Kind = KindMessage
	}
	for _, plain := range []bool{false, true} {
		x := &explainer{set: set, plain: plain}
		if failure != nil {
			x.failure(failure)
		}
		if failure != nil && message != nil {
			x.add("\n")
		}
		if message != nil {
			x.message(message)
		}
		if x.braces {
			x.add("\nWords in braces stand for what the log prints.\n")
		}
		if plain {
			e.Text = x.b.String()
		} else {
			e.Markdown = x.b.String()
		}
	}
	return e, nil
}

// explainer writes one explanation.
type explainer struct {
	set    *signatures.Set
	b      strings.Builder
	plain  bool
	braces bool // something in braces was written
}

var inBraces = regexp.MustCompile(`\{\w+\}`)

func (x *explainer) add(format string, args ...any) { fmt.Fprintf(&x.b, format, args...) }

// prose is text of a signature, with the names of facts in code style.
func (x *explainer) prose(s string) string {
	s = flat(s)
	if inBraces.MatchString(s) {
		x.braces = true
	}
	if x.plain {
		return printable(s)
	}
	var b strings.Builder
	for len(s) > 0 {
		at := inBraces.FindStringIndex(s)
		if at == nil {
			at = []int{len(s), len(s)}
		}
		b.WriteString(escape(s[:at[0]]))
		b.WriteString(code(s[at[0]:at[1]]))
		s = s[at[1]:]
	}
	return b.String()
}

// name is an id, or another word of the program's own.
func (x *explainer) name(s string) string {
	if x.plain {
		return printable(s)
	}
	return code(s)
}

func (x *explainer) names(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, x.name(s))
	}
	return strings.Join(out, ", ")
}

func (x *explainer) head(format string, args ...any) { x.add("\n## "+format+"\n\n", args...) }

func (x *explainer) block(language, text string) {
	if !strings.HasSuffix(x.b.String(), "\n\n") {
		x.add("\n")
	}
	x.add("```%s\n%s\n```\n", language, fenced(strings.Trim(text, "\n")))
}

// given is a condition behind what it decides; empty for none.
func (x *explainer) given(w *signatures.When) string {
	if w == nil {
		return ""
	}
	return ", if " + x.condition(w)
}

func (x *explainer) failure(f *signatures.Failure) {
	x.add("# %s\n\n%s\n\n%s\n", x.prose(upper(f.Title)), x.name(f.ID), x.prose(f.Summary))
	x.head("What states it")
	for _, s := range f.States {
		said := "no line, but reserved memory rises at one graph capture after the other while live memory does not"
		if m := x.set.Message(s.Message); m != nil {
			said = x.name(m.ID) + ": " + x.prose(strings.TrimSuffix(m.Says, "."))
		}
		sure := s.Confidence
		if sure == "" {
			sure = "confirmed"
		}
		x.add("* %s%s (%s)\n", said, x.given(s.When), sure)
	}
	if len(f.GraphPool) > 0 {
		x.head("Is CUDA graph memory the cause")
		x.add("The first that holds decides.\n\n")
		for _, r := range f.GraphPool {
			x.add("* %s%s: %s\n", r.Is, x.given(r.When), x.prose(r.Says))
		}
	}
	if len(f.Evidence) > 0 {
		x.head("What speaks for it (+) and against it (-)")
		for _, e := range f.Evidence {
			x.add("* %s %s%s\n", x.name(sign(incident.Weight(e.For))), x.prose(e.Says), x.given(e.When))
		}
	}
	if len(f.Missing) > 0 {
		x.head("Facts that may be missing")
		for _, m := range f.Missing {
			x.add("* %s%s. How to get it: %s\n", x.prose(m.Ask), x.given(m.When), x.prose(m.How))
		}
	}
	for i := range f.Fixes {
		x.fix(&f.Fixes[i])
	}
	if len(f.Related) > 0 {
		x.head("Related")
		x.add("%s\n", x.names(f.Related))
	}
	if len(f.References) > 0 {
		x.head("References")
		for _, r := range f.References {
			x.add("* %s: %s\n", x.prose(r.Title), x.link(r.URL))
		}
	}
	if len(f.Yes) > 0 {
		x.head("A log that shows it")
		x.block("", sampleOf(f.Yes[0].Log))
	}
}

func (x *explainer) fix(f *signatures.Fix) {
	x.head("Fix: %s", x.prose(f.Title))
	x.add("%s", x.name(f.ID))
	if f.When != nil {
		x.add(", offered if %s", x.condition(f.When))
	}
	if f.Choice != "" {
		x.add("; of all fixes for the same choice (%s) only the first that holds is offered", x.name(f.Choice))
	}
	x.add(".\n")
	x.block(f.Language, f.Code)
	x.add("\n* Why: %s\n* Precondition: %s\n* Risk: %s\n* Undo: %s\n", x.prose(f.Why), x.prose(f.Precondition), x.prose(f.Risk), x.prose(f.Rollback))
	for _, v := range f.Verify {
		x.add("* Check: %s: %s\n", x.name(flat(v.Command)), x.prose(v.Expect))
	}
}

func (x *explainer) message(m *signatures.Message) {
	x.add("# The message %s\n\nPrinted by %s; role: %s.\n\n%s\n", x.name(m.ID), x.prose(m.Program), m.Role, x.prose(m.Says))
	var traits []string
	for _, t := range []struct {
		is   bool
		says string
	}{
		{m.Async, "It is reported later than it happened: the frame that prints it may be innocent."},
		{m.Weak, "It counts only where nothing better is known."},
		{m.Vague, "It does not tell whether memory was lacking."},
		{m.Outside, "It comes from the kernel, the driver or the scheduler, and counts before what processes print."},
		{m.About == "named", "It tells of the process that it names, not of the one that prints it."},
		{m.About == "absent", "It names a process that did not come."},
		{m.Capture == "off", "It says that graphs are not used."},
	} {
		if t.is {
			traits = append(traits, "* "+t.says+"\n")
		}
	}
	if len(traits) > 0 {
		x.add("\n%s", strings.Join(traits, ""))
	}
	x.head("How it is known")
	x.add("One of these texts stands in the line: %s\n", x.names(m.Anchors))
	if kinds := x.set.Kinds(m.ID); len(kinds) > 0 {
		x.head("What is read from it")
		for _, fact := range slices.Sorted(maps.Keys(kinds)) {
			computed := ""
			if slices.Contains(m.Derived, fact) {
				computed = ", computed"
			}
			x.add("* %s (%s%s)\n", x.name(fact), kinds[fact], computed)
		}
	}
	var states []string
	for _, f := range x.set.Failures() {
		if slices.ContainsFunc(f.States, func(s signatures.State) bool { return s.Message == m.ID }) {
			states = append(states, f.ID)
		}
	}
	if len(states) > 0 {
		x.head("Failures that it can state")
		x.add("%s\n", x.names(states))
	}
	if m.Source != "" {
		x.head("Where its text was read")
		x.add("%s\n", x.prose(m.Source))
	}
	x.samples("Lines that are this message", m.Yes)
	x.samples("Lines that are not", m.No)
}

func (x *explainer) samples(title string, list []signatures.Sample) {
	if len(list) == 0 {
		return
	}
	x.head("%s", title)
	for _, s := range list[:min(len(list), maxSamples)] {
		x.block("", cutText(s.Line))
	}
	if n := len(list) - maxSamples; n > 0 {
		x.add("\nand %d more in the signature file\n", n)
	}
}

// sampleOf is the start of a sample log.
func sampleOf(log string) string {
	lines := strings.Split(strings.Trim(log, "\n"), "\n")
	left := len(lines) - maxSampleLines
	if left > 0 {
		lines = lines[:maxSampleLines]
	}
	for i := range lines {
		lines[i] = cutText(lines[i])
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("... and %d lines more", left))
	}
	return strings.Join(lines, "\n")
}

func cutText(s string) string {
	if len(s) <= maxSampleText {
		return s
	}
	return strings.ToValidUTF8(s[:maxSampleText], "") + "..."
}

// link is an address that a reader can follow; the loader lets only https:// in.
func (x *explainer) link(url string) string {
	if x.plain || strings.ContainsAny(url, "<> \t\n") {
		return printable(url)
	}
	return "<" + printable(url) + ">"
}

// condition says what a condition asks.
func (x *explainer) condition(w *signatures.When) string {
	switch {
	case w.All != nil:
		return x.conditions(w.All, " and ")
	case w.Any != nil:
		return x.conditions(w.Any, " or ")
	case w.Not != nil:
		return "not: " + x.condition(w.Not)
	case w.Same != "":
		return fmt.Sprintf("%s has one %s with %d values of %s", x.name(w.Message), x.name(w.Same), w.AtLeast, x.name(w.Distinct))
	case w.Source != "":
		return "a source line of the traceback holds " + x.name(w.Source)
	case w.Version != nil:
		return fmt.Sprintf("%s is %s %s", w.Version.Of, x.name(w.Version.Op), w.Version.Than)
	case w.Fact != "" && w.Op == "":
		return fmt.Sprintf("%s has %s", x.name(w.Message), x.name(w.Fact))
	case w.Fact != "":
		than := x.name(w.Than)
		if w.Times != 0 {
			than = fmt.Sprintf("%g of %s", w.Times, than)
		}
		return fmt.Sprintf("%s of %s is %s %s", x.name(w.Fact), x.name(w.Message), x.name(w.Op), than)
	case w.Message != "":
		return x.name(w.Message) + " was printed"
	case w.Phase != "":
		return phases[w.Phase]
	case w.Frame != "" && w.Function != "":
		return fmt.Sprintf("a frame is %s in %s", x.name(w.Function), x.name(w.Frame))
	case w.Frame != "" || w.Function != "":
		return "a frame is in " + x.name(w.Frame+w.Function)
	case w.Text != "":
		return "the line holds " + x.name(w.Text)
	case w.Metric != "":
		return fmt.Sprintf("%s memory is %s", strings.ReplaceAll(w.Metric, "_", " "), w.Trend)
	case w.Stack != "":
		return w.Stack + " runs"
	case w.Processes != "":
		return w.Processes + " process runs"
	}
	return "a condition holds"
}

func (x *explainer) conditions(parts []signatures.When, by string) string {
	var out []string
	for i := range parts {
		text := x.condition(&parts[i])
		if parts[i].Any != nil || parts[i].All != nil {
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, by)
}

var phases = map[string]string{
	"capture":         "it happened inside a capture",
	"replay":          "it happened in the replay of a graph",
	"captures-seen":   "graphs were captured before",
	"graphs-off":      "the log shows that graphs are off",
	"captures-differ": "ranks captured different numbers of buffers",
}

// Nearest are the ids most like one that does not exist, the best first: those
// that share its words, then those that are spelled almost like it.
func Nearest(set *signatures.Set, id string) []string {
	id = strings.ToLower(clip(id, 80))
	wanted := strings.FieldsFunc(id, func(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == '.' })
	type candidate struct {
		id    string
		score float64
	}
	var all []candidate
	consider := func(other string) {
		shared := 0
		words := strings.Split(other, "-")
		for _, w := range wanted {
			if slices.Contains(words, w) {
				shared++
			}
		}
		far := float64(distance(id, other)) / float64(max(len(id), len(other)))
		score := float64(2*shared)/float64(len(words)+len(wanted)) + 1 - far
		if shared > 0 || far <= 0.4 {
			all = append(all, candidate{other, score})
		}
	}
	for _, f := range set.Failures() {
		consider(f.ID)
	}
	for _, m := range set.Messages() {
		consider(m.ID)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return strings.Compare(a.id, b.id)
	})
	var ids []string
	for _, c := range all {
		if len(ids) < maxNearest && !slices.Contains(ids, c.id) {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// distance is how many letters must be put in, left out or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Signatures lists all failures and messages with what they are, one a line.
func Signatures(set *signatures.Set) string {
	var b strings.Builder
	width := 0
	for _, f := range set.Failures() {
		width = max(width, len(f.ID))
	}
	for _, m := range set.Messages() {
		width = max(width, len(m.ID))
	}
	b.WriteString("Failures\n")
	for _, f := range set.Failures() {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, f.ID, printable(flat(f.Title)))
	}
	program := ""
	for _, m := range set.Messages() {
		if m.Program != program {
			program = m.Program
			fmt.Fprintf(&b, "\nMessages of %s\n", printable(program))
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", width, m.ID, printable(flat(m.Says)))
	}
	return b.String()
}
