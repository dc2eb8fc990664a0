package render

import (
	"fmt"
	"sort"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
)

// Link names a place of the log in Markdown, with a link where the reader can
// follow one.
type Link func(incident.Location) string

// plainLink names a place by its line.
func plainLink(at incident.Location) string { return fmt.Sprintf("line %d", at.Line) }

// Bounds of a hover: it is read in one look.
const (
	maxHoverLines    = 15
	maxHoverEvidence = 4
	maxHoverNumbers  = 4
)

// Hover says what the report says of the line at an offset, in at most 15 lines of
// Markdown. ok is false if the report does not speak of that line.
func Hover(r *incident.Report, offset int64, link Link) (markdown string, ok bool) {
	if link == nil {
		link = plainLink
	}
	v := &r.Verdict
	for i := range v.Collateral {
		if c := &v.Collateral[i]; c.Location.Offset == offset {
			return collateralHover(v, c, link), true
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** (%s)\n\n", escape(upper(v.Title)), v.Confidence)
	b.WriteString(escape(flat(v.Summary)) + "\n")
	b.WriteString(numbers(r, v))
	b.WriteString("\n")
	end := remedy(v)
	room := maxHoverLines - strings.Count(b.String(), "\n") - strings.Count(end, "\n")
	for _, e := range v.Evidence[:max(0, min(len(v.Evidence), maxHoverEvidence, room))] {
		fmt.Fprintf(&b, "`%s` %s: %s  \n", sign(e.For), link(e.Location), escape(e.Says))
	}
	b.WriteString(end)
	return strings.TrimRight(b.String(), "\n "), true
}

func collateralHover(v *incident.Verdict, c *incident.Collateral, link Link) string {
	var b strings.Builder
	cause := "a failure elsewhere"
	if i := v.Initiator; i != nil && i.StatedAt != nil {
		cause = link(*i.StatedAt)
		if i.Rank != nil {
			cause = fmt.Sprintf("rank %d, %s", *i.Rank, cause)
		}
	}
	who := "This line"
	if c.Rank != nil {
		who = fmt.Sprintf("Rank %d", *c.Rank)
	}
	fmt.Fprintf(&b, "**%s only fell with it** (%s of %s)\n\n", who, c.Role, cause)
	fmt.Fprintf(&b, "%s\n\n%s\n", escape(upper(c.Why)), escape(upper(v.Title)))
	return strings.TrimRight(b.String(), "\n ")
}

// numbers is a table of the sizes that the initiating message printed, each with
// its share of the card.
func numbers(r *incident.Report, v *incident.Verdict) string {
	if v.Initiator == nil || v.Initiator.StatedAt == nil {
		return ""
	}
	for _, e := range r.Events {
		if e.Location.Offset != v.Initiator.StatedAt.Offset || e.Role != incident.RoleInitiator {
			continue
		}
		var names []string
		for name, f := range e.Facts {
			if f.Kind == incident.KindSize && meanings[name] != "" {
				names = append(names, name)
			}
		}
		if len(names) < 2 {
			return ""
		}
		sort.Slice(names, func(i, j int) bool { return order(names[i]) < order(names[j]) })
		capacity := e.Facts["capacity"].Size.Bytes
		var head, line, cells []string
		for _, name := range names[:min(len(names), maxHoverNumbers)] {
			size := e.Facts[name].Size.Bytes
			cell := memory.Format(size)
			if capacity > 0 && name != "capacity" {
				cell += fmt.Sprintf(" (%.0f %%)", 100*float64(size)/float64(capacity))
			}
			head, line, cells = append(head, meanings[name]), append(line, "---"), append(cells, cell)
		}
		row := func(s []string) string { return "| " + strings.Join(s, " | ") + " |\n" }
		return "\n" + row(head) + row(line) + row(cells)
	}
	return ""
}

// meanings say what the figures of an out-of-memory message are. "Allocated in
// private pools" are the idle bytes of graph pools, see memory.Derive.
var meanings = map[string]string{
	"requested":     "asked for",
	"live":          "live tensors",
	"private_pools": "idle in graph pools",
	"unallocated":   "reserved, free",
	"capacity":      "card",
	"free":          "free on the card",
}

func order(name string) int {
	for i, n := range []string{"requested", "live", "private_pools", "unallocated", "free", "capacity"} {
		if n == name {
			return i
		}
	}
	return len(meanings)
}

func remedy(v *incident.Verdict) string {
	var b strings.Builder
	if m := v.MissingFact; m != nil {
		fmt.Fprintf(&b, "\nThe one fact needed: %s. %s\n", escape(m.Fact), escape(m.How))
	}
	if len(v.Fixes) > 0 {
		fmt.Fprintf(&b, "\nFix: %s: %s  \n", escape(v.Fixes[0].Title), code(firstLine(v.Fixes[0].Code)))
	}
	if len(v.Verify) > 0 {
		fmt.Fprintf(&b, "Check: %s\n", code(v.Verify[0].Command))
	}
	return b.String()
}

// Markdown is the whole answer as a document.
func Markdown(r *incident.Report, link Link) string {
	if link == nil {
		link = plainLink
	}
	v := &r.Verdict
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", escape(upper(v.Title)))
	if v.Status != incident.NoFailureFound {
		fmt.Fprintf(&b, "%s. Is CUDA graph memory the cause: %s.\n\n", upper(string(v.Confidence)), v.GraphPoolIsCause)
	}
	b.WriteString(escape(flat(v.Summary)) + "\n")
	if i := v.Initiator; i != nil && i.StatedAt != nil {
		fmt.Fprintf(&b, "\n%s:\n\n```\n%s\n```\n", upper(link(*i.StatedAt)), fenced(i.StatedAt.Quoted()))
	}
	b.WriteString(numbers(r, v))
	if len(v.Evidence) > 0 {
		b.WriteString("\n## Why\n\n")
		for _, e := range v.Evidence {
			fmt.Fprintf(&b, "* `%s` %s: %s\n", sign(e.For), link(e.Location), escape(e.Says))
		}
	}
	if who := collateralRanks(v); who != "" {
		first := v.Collateral[0]
		fmt.Fprintf(&b, "\n## Fell with it\n\n%s, first at %s: %s\n", upper(who), link(first.Location), escape(first.Why))
	}
	if m := v.MissingFact; m != nil {
		fmt.Fprintf(&b, "\n## The one fact needed\n\n%s\n\n%s\n", escape(upper(m.Fact)), escape(m.How))
	}
	for _, f := range v.Fixes {
		fmt.Fprintf(&b, "\n## Fix: %s\n\n```%s\n%s\n```\n\n%s\n\n* Precondition: %s\n* Risk: %s\n* Undo: %s\n",
			escape(f.Title), f.Language, fenced(strings.TrimRight(f.Code, "\n")), escape(f.Why), escape(f.Precondition), escape(f.Risk), escape(f.Rollback))
	}
	for _, c := range v.Verify {
		where := ""
		if c.Language == "python" {
			where = ", in the program"
		}
		fmt.Fprintf(&b, "\n## Check%s\n\n```%s\n%s\n```\n\n%s\n", where, c.Language, fenced(c.Command), escape(c.Expect))
	}
	for _, n := range append(append([]string{}, r.Coverage.Cut...), r.Notes...) {
		fmt.Fprintf(&b, "\nNote: %s\n", escape(n))
	}
	return b.String()
}

// collateralRanks names everyone who only suffered: "ranks 0-16, 18-63".
func collateralRanks(v *incident.Verdict) string {
	var ranks []int
	others := 0
	for _, c := range v.Collateral {
		if c.Rank != nil {
			ranks = append(ranks, *c.Rank)
		} else {
			others++
		}
	}
	var who []string
	switch len(ranks) {
	case 0:
	case 1:
		who = append(who, fmt.Sprintf("rank %d", ranks[0]))
	default:
		who = append(who, "ranks "+incident.Ranges(ranks))
	}
	switch others {
	case 0:
	case 1:
		who = append(who, "one process without a rank")
	default:
		who = append(who, fmt.Sprintf("%d processes without a rank", others))
	}
	return strings.Join(who, " and ")
}

func sign(w incident.Weight) string {
	switch w {
	case incident.Supports:
		return "+"
	case incident.Refutes:
		return "-"
	}
	return "·"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	code, _, _ := strings.Cut(line, "  #")
	return strings.TrimSpace(code)
}

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// escape keeps text of the log from being read as Markdown or HTML.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "#", `\#`, "|", `\|`).Replace(printable(s))
}

// code puts one line of code between backticks, more of them than it has itself.
func code(s string) string {
	if s = printable(s); s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + s + fence
}

// fenced keeps text from ending the fence that it stands in.
func fenced(s string) string { return strings.ReplaceAll(printableLines(s), "```", "'''") }

func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
