package signatures

import (
	"slices"
	"strings"
)

// checkFailure checks one failure against all messages.
func (c *checker) checkFailure(f *Failure, s *source) {
	bad := func(line int, format string, args ...any) { c.errorf(s, line, format, args...) }
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
		if !st.Growth && c.set.Message(st.Message) == nil {
			bad(s.line("message", here), "there is no message %q", st.Message)
		}
		if !slices.Contains([]string{"", "confirmed", "likely", "possible"}, st.Confidence) {
			bad(s.line("confidence", here), "confidence %q is none of confirmed, likely, possible", st.Confidence)
		}
		c.checkWhen(st.When, s, s.line("when", here))
	}
	for i, r := range f.GraphPool {
		here := table{"graph_pool", i}
		if !slices.Contains([]string{"yes", "no", "undetermined"}, r.Is) {
			bad(s.line("is", here), "is = %q is none of yes, no, undetermined", r.Is)
		}
		if r.Says == "" {
			bad(s.line("says", here), "add says: why the answer is %s", r.Is)
		}
		c.checkWhen(r.When, s, s.line("when", here))
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
		c.checkWhen(e.When, s, s.line("when", here))
	}
	for i, m := range f.Missing {
		here := table{"missing", i}
		if m.ID == "" || m.Ask == "" || m.How == "" {
			bad(s.line("id", here), "a missing fact needs id, ask and how")
		}
		c.checkWhen(m.When, s, s.line("when", here))
	}
	if len(f.Missing) == 0 && len(f.Fixes) == 0 {
		bad(0, "add a [[fix]] or a [[missing]]: a verdict must end in one of them")
	}
	ids := map[string]bool{}
	for i, x := range f.Fixes {
		c.checkFix(&x, s, table{"fix", i})
		if ids[x.ID] {
			bad(s.line("id", table{"fix", i}), "there are two fixes %q: choose another id", x.ID)
		}
		ids[x.ID] = true
	}
	for i, r := range f.References {
		if r.Title == "" || !strings.HasPrefix(r.URL, "https://") {
			bad(s.line("url", table{"references", i}), "a reference needs a title and an https:// url")
		}
	}
	for _, id := range f.Related {
		if c.set.Failure(id) == nil {
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
func (c *checker) checkFix(x *Fix, s *source, here table) {
	need := func(key, value, what string) {
		if value == "" {
			c.errorf(s, s.line(key, here), "fix %q: add %s: %s", x.ID, key, what)
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
		c.errorf(s, s.line("stack", here), "fix %q: stack %q is none of %v", x.ID, x.Stack, stacks())
	}
	if len(x.Verify) == 0 {
		c.errorf(s, s.line("id", here), "fix %q: add a [[fix.verify]]: a command that shows whether it worked", x.ID)
	}
	for i, v := range x.Verify {
		if v.Command == "" || v.Expect == "" {
			c.errorf(s, s.line("command", here, table{"fix.verify", i}), "fix %q: a verification needs command and expect", x.ID)
		}
		if v.Language != "" && v.Language != "shell" && v.Language != "python" {
			c.errorf(s, s.line("language", here, table{"fix.verify", i}), "fix %q: the language of a verification is shell or python, not %q", x.ID, v.Language)
		}
	}
	c.checkWhen(x.When, s, s.line("when", here))
}
