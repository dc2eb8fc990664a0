package signatures

import (
	"regexp"
	"slices"
	"strings"
)

// maxPattern is the longest pattern that is compiled.
const maxPattern = 4 << 10

var (
	kebab       = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
	snake       = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	placeholder = regexp.MustCompile(`\{(\w+)\}`)
)

// checkMessage checks one message and compiles it. A message that is wrong is
// still given a matcher, so that the checks that follow can name it.
func (l *loader) checkMessage(m *Message, at origin) {
	here := table{"message", at.ordinal}
	bad := func(key, format string, args ...any) {
		l.errorf(at.file, at.file.line(key, here), "message %q: "+format, append([]any{m.ID}, args...)...)
	}
	if !kebab.MatchString(m.ID) {
		bad("id", "the id must be kebab case, such as \"torch-oom\"")
	}
	if l.set.Message(m.ID) != m {
		bad("id", "the id is taken: choose another")
	}
	if m.Says == "" {
		bad("id", "add says: one sentence that tells what the line means")
	}
	if !slices.Contains(roles(), m.Role) {
		bad("role", "role %q is none of %v", m.Role, roles())
	}
	if m.Wraps < 0 {
		bad("wraps", "wraps counts lines and cannot be negative")
	}
	if !slices.Contains([]string{"", "named", "map"}, m.About) {
		bad("about", "about = %q is none of named, map", m.About)
	}
	if !slices.Contains([]string{"", "begin", "progress", "end", "off"}, m.Capture) {
		bad("capture", "capture = %q is none of begin, progress, end, off", m.Capture)
	}
	if m.Weak && m.Role != Initiator {
		bad("weak", "only an initiator can be weak: remove weak")
	}
	index := len(l.set.matchers)
	if len(m.Anchors) == 0 {
		bad("id", "add anchors: plain texts, one of which stands in every such line")
	}
	for _, a := range m.Anchors {
		if len(a) < minAnchor {
			bad("anchors", "anchor %q is shorter than %d bytes: choose a longer text of the line", a, minAnchor)
			continue
		}
		l.anchors = append(l.anchors, anchor{a, index})
	}
	compiled := &matcher{message: m, kinds: map[string]string{}}
	add := func(key, pattern string) *regexp.Regexp {
		if len(pattern) > maxPattern {
			bad(key, "the pattern is longer than %d bytes", maxPattern)
			return nil
		}
		re, kinds, err := l.macros.compile(pattern)
		if err != nil {
			bad(key, "%v", err)
			return nil
		}
		for name, kind := range kinds {
			if !snake.MatchString(name) {
				bad(key, "fact %q must be snake case", name)
			}
			if old := compiled.kinds[name]; old != "" && old != kind {
				bad(key, "fact %q is %s here and %s before: use one macro", name, kind, old)
			}
			compiled.kinds[name] = kind
		}
		return re
	}
	if m.Pattern != "" {
		compiled.pattern = add("pattern", m.Pattern)
	}
	if m.Unless != "" {
		compiled.unless = add("unless", m.Unless)
		if compiled.unless != nil && compiled.unless.NumSubexp() > 0 {
			bad("unless", "unless captures nothing: write groups as (?:...)")
		}
	}
	for _, p := range m.Facts {
		re := add("facts", p)
		if re == nil {
			continue
		}
		if !slices.ContainsFunc(re.SubexpNames(), func(name string) bool { return name != "" }) {
			bad("facts", "%q captures nothing: name a group, as in (?P<requested>SIZE)", p)
		}
		compiled.facts = append(compiled.facts, re)
	}
	for _, p := range placeholder.FindAllStringSubmatch(m.Says, -1) {
		if compiled.kinds[p[1]] == "" {
			bad("says", "says names {%s}, which no pattern captures", p[1])
		}
	}
	for _, name := range m.Derived {
		if kind := compiled.kinds[name]; !snake.MatchString(name) || kind != "" && kind != KindSize {
			bad("derived", "derived fact %q must be a size with a name in snake case", name)
		}
	}
	needs := func(key string, set bool, facts ...string) {
		if set && !slices.ContainsFunc(facts, func(name string) bool { return compiled.kinds[name] != "" }) {
			bad(key, "%s needs a pattern that captures one of %s", key, strings.Join(facts, ", "))
		}
	}
	needs("about", m.About == "named", "rank", "named_rank", "local_rank", "pid", "task", "host")
	needs("about", m.About == "map", "rank", "local_rank", "pid")
	needs("capture", m.Capture == "progress", "progress_done")
	if len(m.Yes) == 0 {
		bad("id", "add a [[message.yes]]: a line that must match")
	}
	if len(m.No) == 0 {
		bad("id", "add a [[message.no]]: a line that looks alike and must stay silent")
	}
	for i, no := range m.No {
		if len(no.Facts) > 0 {
			l.errorf(at.file, at.file.line("facts", here, table{"message.no", i}), "message %q: a line that must stay silent has no facts", m.ID)
		}
	}
	l.set.matchers = append(l.set.matchers, compiled)
}

func roles() []Role {
	return []Role{Initiator, Collateral, Echo, Symptom, Advice, Context}
}

// checkFailure checks one failure against all messages.
func (l *loader) checkFailure(f *Failure, s *source) {
	bad := func(line int, format string, args ...any) { l.errorf(s, line, format, args...) }
	if want := strings.TrimSuffix(s.path[strings.LastIndexByte(s.path, '/')+1:], ".toml"); f.ID != want {
		bad(s.line("id"), "id is %q, but the file is named %q: make them equal", f.ID, want)
	} else if !kebab.MatchString(f.ID) {
		bad(s.line("id"), "the id must be kebab case, such as \"cuda-graph-capture-oom\"")
	}
	if f.Title == "" {
		bad(s.line("title"), "add a title: one line a person can read")
	}
	if f.Summary == "" {
		bad(s.line("summary"), "add a summary: two or three sentences about this failure in general")
	}
	if len(f.States) == 0 {
		bad(0, "add [[states]]: a message that states this failure")
	}
	for i, st := range f.States {
		here := table{"states", i}
		if st.Growth != (st.Message == "") {
			bad(s.line("message", here), "set either message or growth = true")
		}
		if !st.Growth && l.set.Message(st.Message) == nil {
			bad(s.line("message", here), "there is no message %q", st.Message)
		}
		if !slices.Contains([]string{"", "confirmed", "likely", "possible"}, st.Confidence) {
			bad(s.line("confidence", here), "confidence %q is none of confirmed, likely, possible", st.Confidence)
		}
		l.checkWhen(st.When, s, s.line("when", here))
	}
	for i, r := range f.GraphPool {
		here := table{"graph_pool", i}
		if !slices.Contains([]string{"yes", "no", "undetermined"}, r.Is) {
			bad(s.line("is", here), "is = %q is none of yes, no, undetermined", r.Is)
		}
		if r.Says == "" {
			bad(s.line("says", here), "add says: why the answer is %s", r.Is)
		}
		l.checkWhen(r.When, s, s.line("when", here))
	}
	for i, e := range f.Evidence {
		here := table{"evidence", i}
		if e.Says == "" {
			bad(s.line("says", here), "add says: the claim that this evidence makes")
		}
		if !slices.Contains([]string{"supports", "refutes", "context"}, e.For) {
			bad(s.line("for", here), "for = %q is none of supports, refutes, context", e.For)
		}
		if e.When == nil {
			bad(s.line("says", here), "add when: a claim needs a line that makes it hold")
		}
		l.checkWhen(e.When, s, s.line("when", here))
	}
	for i, m := range f.Missing {
		here := table{"missing", i}
		if m.ID == "" || m.Ask == "" || m.How == "" {
			bad(s.line("id", here), "a missing fact needs id, ask and how")
		}
		l.checkWhen(m.When, s, s.line("when", here))
	}
	if len(f.Missing) == 0 && len(f.Fixes) == 0 {
		bad(0, "add a [[fix]] or a [[missing]]: a verdict must end in one of them")
	}
	for i, x := range f.Fixes {
		l.checkFix(&x, s, table{"fix", i})
	}
	for i, r := range f.References {
		if r.Title == "" || !strings.HasPrefix(r.URL, "https://") {
			bad(s.line("url", table{"references", i}), "a reference needs a title and an https:// url")
		}
	}
	for _, id := range f.Related {
		if l.set.Failure(id) == nil {
			bad(s.line("related"), "there is no failure %q", id)
		}
	}
	for i, yes := range f.Yes {
		if yes.Log == "" {
			bad(s.line("log", table{"yes", i}), "the sample log is empty")
		}
	}
	for i, no := range f.No {
		if no.Log == "" {
			bad(s.line("log", table{"no", i}), "the sample log is empty")
		}
	}
}

// checkFix checks that a fix says everything a reader must know before using it.
func (l *loader) checkFix(x *Fix, s *source, here table) {
	need := func(key, value, what string) {
		if value == "" {
			l.errorf(s, s.line(key, here), "fix %q: add %s: %s", x.ID, key, what)
		}
	}
	need("id", x.ID, "a kebab case name")
	need("title", x.Title, "one line")
	need("why", x.Why, "why it works")
	need("precondition", x.Precondition, "when it may be used")
	need("risk", x.Risk, "what it may break or cost")
	need("rollback", x.Rollback, "how to undo it")
	need("language", x.Language, "of the code: python, shell, json, ...")
	if x.Stack != "" && !slices.Contains(stacks(), x.Stack) {
		l.errorf(s, s.line("stack", here), "fix %q: stack %q is none of %v", x.ID, x.Stack, stacks())
	}
	if len(x.Verify) == 0 {
		l.errorf(s, s.line("id", here), "fix %q: add a [[fix.verify]]: a command that shows whether it worked", x.ID)
	}
	for i, v := range x.Verify {
		if v.Command == "" || v.Expect == "" {
			l.errorf(s, s.line("command", here, table{"fix.verify", i}), "fix %q: a verification needs command and expect", x.ID)
		}
	}
	l.checkWhen(x.When, s, s.line("when", here))
}
