package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
)

// Bounds of what is said of a line.
const (
	maxLineMessages = 3
	maxLineFacts    = 8
	maxFactText     = 60  // characters
	maxSays         = 400 // characters
	// minLineRoom is the fewest lines that are worth it.
	minLineRoom = 3
)

// LineOptions say how a line is told of.
type LineOptions struct {
	// Plain leaves Markdown out.
	Plain bool
	// Link names places, with a link if Plain is not set; nil means by line number.
	Link Link
	// Initiating is the line that states the initiating failure, if there is one.
	Initiating *incident.Location
	// Below is what the text is to stand under, in Markdown. The text then takes the
	// room that is left of one look, repeats no table of sizes, and begins with what
	// sets the two apart.
	Below string
}

// Line says what a line of the log means: in a sentence, who printed it and when,
// and its numbers decoded. ok is false for a line that no signature knows, and where
// there is no room.
func Line(l *incident.Line, o LineOptions) (text string, ok bool) {
	if len(l.Messages) == 0 {
		return "", false
	}
	if o.Link == nil {
		o.Link = plainLink
	}
	t := &told{o: o}
	for i := range l.Messages[:min(len(l.Messages), maxLineMessages)] {
		m := &l.Messages[i]
		if !strings.Contains(o.Below, escape(flat(m.Says))) || m.Says == "" {
			t.add(0, t.says(m))
		}
		if o.Below == "" || !strings.Contains(o.Below, tableRule) {
			t.add(1, t.sizes(m.Facts))
		}
		t.about = t.process(m.About)
		if t.about != "" && m.About.Key() != l.Origin.Key() {
			t.add(1, "It is about "+t.about+".")
		}
		t.add(1, t.work(m)...)
		t.add(1, t.progress(m)...)
		for _, name := range slices.Sorted(maps.Keys(m.Means)) {
			t.add(1, t.escape(upper(m.Means[name]))+".")
		}
		t.add(2, t.others(m)...)
		t.add(3, t.source(m)...)
	}
	if more := len(l.Messages) - maxLineMessages; more > 0 {
		t.add(3, fmt.Sprintf("And %d more messages on this line.", more))
	}
	if printed := t.printed(l); printed != "" {
		first := 0
		if len(t.blocks) > 0 && t.blocks[0].rank == 0 {
			first = 1 // behind the sentence
		}
		t.blocks = slices.Insert(t.blocks, first, block{0, printed})
	}
	return t.text()
}

// Printed says who printed a line, how that is known, and when, in one sentence;
// empty where the log tells neither.
func Printed(l *incident.Line, o LineOptions) string {
	if o.Link == nil {
		o.Link = plainLink
	}
	return (&told{o: o}).printed(l)
}

// told gathers what is said of a line, in the order in which it is shown.
type told struct {
	o      LineOptions
	blocks []block
	about  string // whom the message is about, if another than the printer
}

// block is one line or one table. Where not all fit, those of a lower rank go before
// those of a higher one, and the earlier before the later.
type block struct {
	rank int
	text string
}

func (t *told) add(rank int, texts ...string) {
	for _, s := range texts {
		if s != "" {
			t.blocks = append(t.blocks, block{rank, s})
		}
	}
}

// text puts together what fits.
func (t *told) text() (string, bool) {
	room := maxHoverLines
	rule := ""
	if t.o.Below != "" {
		rule = "\n\n---\n\n"
		if t.o.Plain {
			rule = "\n\n"
		}
		room -= strings.Count(t.o.Below+rule, "\n")
		if room < minLineRoom {
			return "", false
		}
	}
	shown := make([]bool, len(t.blocks))
	for rank := range 4 {
		for i, b := range t.blocks {
			if b.rank != rank {
				continue
			}
			shown[i] = true
			if strings.Count(t.join(shown), "\n") < room {
				continue
			}
			if rank == 0 {
				return "", false
			}
			shown[i] = false
		}
	}
	return rule + t.join(shown), true
}

// join puts the shown blocks under each other.
func (t *told) join(shown []bool) string {
	var b strings.Builder
	n, table := 0, false
	for i, part := range t.blocks {
		if !shown[i] {
			continue
		}
		above := table
		table = strings.Contains(part.text, tableRule)
		switch {
		case n == 0:
		case t.o.Plain:
			b.WriteString("\n")
		case table || above || n == 2: // what was said and by whom stands apart
			b.WriteString("\n\n")
		default:
			b.WriteString("  \n")
		}
		b.WriteString(part.text)
		n++
	}
	return b.String()
}

// escape keeps text of the log from being read as Markdown.
func (t *told) escape(s string) string {
	if t.o.Plain {
		return printable(s)
	}
	return escape(s)
}

func (t *told) says(m *incident.Message) string {
	says := flat(m.Says)
	if cut := clip(says, maxSays); cut != says {
		says = cut + "..."
	}
	if says == "" {
		says = "A known message: " + m.ID + "."
	}
	if t.o.Plain {
		return printable(says)
	}
	return "**" + escape(says) + "**"
}

// printed says who printed the line, how that is known, and when.
func (t *told) printed(l *incident.Line) string {
	who := t.process(l.Origin)
	text := ""
	switch {
	case who != "":
		text = "Printed by " + who
		if l.Time != nil {
			text += ","
		}
	case l.Time != nil:
		text = "Printed"
	default:
		return ""
	}
	if l.Time != nil {
		text += " at " + t.escape(l.Time.Text)
		if otherClock(l.Time) {
			text += " (the digits behind the second are of another clock)"
		}
	}
	if at := t.o.Initiating; l.Since != nil && (at == nil || at.Offset != l.Text.Offset) {
		text += ", " + sinceWords(l.Since) + " the initiating event"
		if at != nil {
			text += " (" + t.o.Link(*at) + ")"
		}
	}
	return text + "."
}

// process names a process and says how its rank is known; empty if nothing is.
func (t *told) process(o incident.Origin) string {
	var who []string
	if o.Rank != nil {
		rank := fmt.Sprintf("rank %d", *o.Rank)
		if o.RankFrom != "" {
			rank += " (known by: " + o.RankFrom + ")"
		}
		who = append(who, rank)
	}
	if o.LocalRank != nil {
		who = append(who, fmt.Sprintf("local rank %d", *o.LocalRank))
	}
	if o.Process != "" {
		who = append(who, o.Process)
	}
	if o.PID != nil {
		who = append(who, fmt.Sprintf("pid %d", *o.PID))
	}
	if o.Host != "" {
		if len(who) == 0 {
			who = append(who, "a process")
		}
		who[len(who)-1] += " on " + o.Host
	}
	return t.escape(strings.Join(who, ", "))
}

// otherClock reports whether a time was printed with a fraction that does not count,
// as c10d does.
func otherClock(t *incident.Time) bool {
	return t.Clock == incident.Wall && t.Granularity >= 1 && strings.Contains(t.Text, ".")
}

// tableRule is the second row of every Markdown table that is made here.
const tableRule = "| --- |"

// sizes is the table of an out-of-memory message: what was asked for, and what the
// card's memory is used for.
func (t *told) sizes(facts map[string]incident.Fact) string {
	requested, ok := facts["requested"]
	card := facts["capacity"]
	parts := memory.Parts(facts)
	if !ok || requested.Kind != incident.KindSize || len(parts) == 0 {
		return ""
	}
	rows := [][3]string{{"asked for", memory.Format(requested.Size.Bytes), memory.Percent(requested.Size, card.Size)}}
	for _, p := range parts {
		rows = append(rows, [3]string{p.Called, memory.Format(p.Size.Bytes), p.Share})
	}
	whole := "of " + memory.Format(card.Size.Bytes)
	if t.o.Plain {
		lines := make([]string, 0, len(rows)+1)
		for _, r := range rows {
			lines = append(lines, fmt.Sprintf("%-28s %12s  %s", r[0], r[1], r[2]))
		}
		lines[0] += " " + whole
		return strings.Join(lines, "\n")
	}
	lines := []string{"| memory of the card | size | " + whole + " |", "| --- | ---: | ---: |"}
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("| %s | %s | %s |", r[0], r[1], r[2]))
	}
	return strings.Join(lines, "\n")
}

// work tells of a collective: which, how long it was waited for, and how far this
// process had come.
func (t *told) work(m *incident.Message) []string {
	f := m.Facts
	var lines []string
	op, okOp := f["op"]
	seq, okSeq := f["seq"]
	if okOp || okSeq {
		var b strings.Builder
		b.WriteString("Work")
		if okSeq {
			fmt.Fprintf(&b, " %d", seq.Int)
		}
		if okOp {
			b.WriteString(": " + t.escape(op.Text))
		}
		b.WriteString(elements(f))
		b.WriteString(t.group(f))
		lines = append(lines, b.String()+".")
	}
	if ran, ok := f["ran"]; ok && ran.Kind == incident.KindSeconds {
		line := "Waited " + waited(ran.Number)
		if limit, ok := f["timeout"]; ok && limit.Kind == incident.KindSeconds {
			line += "; the limit is " + waited(limit.Number)
		}
		lines = append(lines, line+".")
	}
	enqueued, okE := f["last_enqueued"]
	completed, okC := f["last_completed"]
	switch {
	case okE && okC:
		line := fmt.Sprintf("Last enqueued work %d, last completed %d", enqueued.Int, completed.Int)
		switch open := enqueued.Int - completed.Int; {
		case completed.Int < 0:
			line += ": none was completed"
		case open == 0:
			line += ": nothing was left to do"
		case open > 0:
			line += fmt.Sprintf(": %d not completed", open)
		}
		lines = append(lines, line+".")
	case okC:
		lines = append(lines, fmt.Sprintf("Last completed work %d.", completed.Int))
	}
	return lines
}

// elements says how large a collective is.
func elements(f map[string]incident.Fact) string {
	in, okIn := f["numel_in"]
	out, okOut := f["numel_out"]
	switch {
	case !okIn || !okOut:
		return ""
	case in.Int == out.Int:
		return " of " + count(in.Int) + " elements"
	}
	return fmt.Sprintf(" of %s elements in, %s out", count(in.Int), count(out.Int))
}

func (t *told) group(f map[string]incident.Fact) string {
	group := ""
	if name, ok := f["pg"]; ok {
		group = " in group " + t.escape(name.Text)
	} else if id, ok := f["pg_id"]; ok {
		group = " in group " + t.escape(id.Text)
	}
	if rank, ok := f["group_rank"]; ok && group != "" {
		group += ", in which this is rank " + t.escape(rank.Text)
	}
	return group
}

// count prints a large number in its first digits: "268.4 M".
func count(n int64) string {
	v := float64(n)
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f G", v/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", v/1e6)
	}
	return fmt.Sprint(n)
}

// progress tells how far something has come.
func (t *told) progress(m *incident.Message) []string {
	done, okDone := m.Facts["progress_done"]
	total, okTotal := m.Facts["progress_total"]
	if !okDone || !okTotal || done.Kind != incident.KindInt || total.Int <= 0 {
		return nil
	}
	what := "Progress"
	if m.Capture == "progress" {
		what = "Captures"
	}
	return []string{fmt.Sprintf("%s: %d of %d (%.0f %%).", what, done.Int, total.Int, 100*float64(done.Int)/float64(total.Int))}
}

// decoded are the facts that work, progress and sizes tell; the lists of processes
// and of shares are told by what is derived from them.
var decoded = []string{
	"op", "seq", "numel_in", "numel_out", "pg", "pg_id", "group_rank", "ran", "last_enqueued", "last_completed",
	"progress_done", "progress_total", "processes", "held_by",
}

// others lists the facts that nothing else tells.
func (t *told) others(m *incident.Message) []string {
	shown := append(slices.Clone(decoded), m.Told...)
	shown = slices.AppendSeq(shown, maps.Keys(m.Means))
	if t.about != "" {
		shown = append(shown, "rank", "local_rank", "pid", "task", "host")
	}
	if _, ok := m.Facts["ran"]; ok {
		shown = append(shown, "timeout")
	}
	if t.sizes(m.Facts) != "" {
		shown = append(shown, "requested", "capacity", "free", "live", "private_pools", "unallocated", "non_pytorch", "other_processes")
	}
	var list []string
	rest := 0
	for _, name := range slices.Sorted(maps.Keys(m.Facts)) {
		if slices.Contains(shown, name) {
			continue
		}
		if len(list) == maxLineFacts {
			rest++
			continue
		}
		list = append(list, called(name)+" "+t.escape(value(m.Facts[name])))
	}
	if len(list) == 0 {
		return nil
	}
	line := "Also: " + strings.Join(list, "; ")
	if rest > 0 {
		line += fmt.Sprintf("; and %d more", rest)
	}
	if !strings.HasSuffix(line, "...") {
		line += "."
	}
	return []string{line}
}

// called is a fact's name for people.
func called(name string) string {
	switch name {
	case "gpu":
		return "card"
	case "in_use":
		return "in use by this process"
	case "anon_rss_kb":
		return "resident memory in kB"
	}
	return strings.ReplaceAll(name, "_", " ")
}

// value prints a fact with its unit.
func value(f incident.Fact) string {
	switch f.Kind {
	case incident.KindSize:
		return memory.Format(f.Size.Bytes)
	case incident.KindSeconds:
		return waited(f.Number)
	}
	text := flat(f.Text)
	if cut := clip(text, maxFactText); cut != text {
		return cut + "..."
	}
	return text
}

// source says where the message's text was read, for a reader who doubts it.
func (t *told) source(m *incident.Message) []string {
	id := m.ID
	if !t.o.Plain {
		id = code(id)
	}
	if m.Source == "" {
		return []string{id}
	}
	source, _, _ := strings.Cut(m.Source, ";") // a note of ours may follow
	return []string{id + ", printed by " + t.escape(source)}
}
