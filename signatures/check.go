package signatures

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	kebab       = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
	snake       = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	placeholder = regexp.MustCompile(`\{(\w+)\}`)
)

// checker looks for everything that is wrong with a set.
type checker struct {
	set  *Set
	errs []error
}

// check returns all that is wrong with the messages, failures and codes of a set.
func check(s *Set, files []*file) []error {
	c := &checker{set: s}
	for _, m := range s.matchers {
		c.checkMessage(m)
	}
	for _, f := range files {
		if f.failure != nil {
			c.checkFailure(f.failure, f.source)
		}
		if f.codes != nil {
			c.checkCodes(f.codes, f.source)
		}
	}
	return c.errs
}

func (c *checker) errorf(s *source, line int, format string, args ...any) {
	c.errs = append(c.errs, s.errorf(line, format, args...))
}

// checkMessage checks one message.
func (c *checker) checkMessage(compiled *matcher) {
	m, at := compiled.message, compiled.at
	here := table{"message", at.nth}
	bad := func(key, format string, args ...any) {
		c.errorf(at.file, at.file.line(key, here), "message %q: "+format, append([]any{m.ID}, args...)...)
	}
	oneOf := func(key, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			bad(key, "%s %q is none of %s", key, value, strings.Trim(strings.Join(allowed, ", "), " ,"))
		}
	}
	if !kebab.MatchString(m.ID) {
		bad("id", "the id must be kebab case, such as \"torch-oom\"")
	}
	if c.set.Message(m.ID) != m {
		bad("id", "the id is taken: choose another")
	}
	if m.Says == "" {
		bad("id", "add says: one sentence that tells what the line means")
	}
	oneOf("role", string(m.Role), roles()...)
	oneOf("about", m.About, "", "named", "next", "absent", "map")
	oneOf("capture", m.Capture, "", "begin", "progress", "end", "off")
	if m.Wraps < 0 {
		bad("wraps", "wraps counts lines and cannot be negative")
	}
	if m.Weak && m.Role != Initiator {
		bad("weak", "only an initiator can be weak: remove weak")
	}
	if len(m.Anchors) == 0 {
		bad("id", "add anchors: plain texts, one of which stands in every such line")
	}
	for _, a := range m.Anchors {
		if len(a) < minAnchor {
			bad("anchors", "anchor %q is shorter than %d bytes: choose a longer text of the line", a, minAnchor)
		}
	}
	for _, e := range compiled.compiled().errs {
		bad(e.key, "%s", e.text)
	}
	c.checkFacts(compiled, bad)
	if len(m.Yes) == 0 {
		bad("id", "add a [[message.yes]]: a line that must match")
	}
	if len(m.No) == 0 {
		bad("id", "add a [[message.no]]: a line that looks alike and must stay silent")
	}
	for i, no := range m.No {
		if len(no.Facts) > 0 {
			c.errorf(at.file, at.file.line("facts", here, table{"message.no", i}), "message %q: a line that must stay silent has no facts", m.ID)
		}
	}
}

// checkFacts checks what names or needs the facts of a message.
func (c *checker) checkFacts(compiled *matcher, bad func(key, format string, args ...any)) {
	m, kinds := compiled.message, compiled.compiled().kinds
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if !snake.MatchString(name) {
			bad("pattern", "fact %q must be snake case", name)
		}
	}
	for _, p := range placeholder.FindAllStringSubmatch(m.Says, -1) {
		if kinds[p[1]] == "" {
			bad("says", "says names {%s}, which no pattern captures", p[1])
		}
	}
	for _, name := range m.Derived {
		if kind := kinds[name]; !snake.MatchString(name) || kind != "" && kind != KindSize {
			bad("derived", "derived fact %q must be a size with a name in snake case", name)
		}
	}
	needs := func(key string, set bool, facts ...string) {
		if set && !slices.ContainsFunc(facts, func(name string) bool { return kinds[name] != "" }) {
			bad(key, "%s needs a pattern that captures one of %s", key, strings.Join(facts, ", "))
		}
	}
	needs("about", m.About == "named", "rank", "local_rank", "pid", "task", "host", "pci")
	needs("about", m.About == "map" || m.About == "next" || m.About == "absent", "rank", "local_rank", "pid")
	needs("capture", m.Capture == "progress", "progress_done")
}

func roles() []string {
	return []string{string(Initiator), string(Collateral), string(Echo), string(Symptom), string(Advice), string(Context)}
}
