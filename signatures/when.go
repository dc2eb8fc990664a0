package signatures

import (
	"regexp"
	"slices"
	"strings"
)

// maxWhen bounds the nesting of conditions.
const maxWhen = 16

// quantity is a literal that a numeric fact can be compared with.
var quantity = regexp.MustCompile(`^-?\d+(?:\.\d+)?(?: ?(?:bytes|[KMGTP]i?B|[kmgt]b|ms|s|%))?$`)

// release is a version that a condition can compare with.
var release = regexp.MustCompile(`^\d+(?:\.\d+)*$`)

// operators are those of facts and of versions.
func operators() []string { return []string{"<", "<=", ">", ">=", "=", "!="} }

// phases, stacks, metrics and trends are what conditions may name.
//
// capture: the failure was inside a capture; replay: it was inside the replay of
// a graph; captures-seen: the run captured graphs before; graphs-off: the log
// shows that the run uses no graphs; captures-differ: ranks registered different
// numbers of captured buffers.
func phases() []string {
	return []string{"capture", "replay", "captures-seen", "graphs-off", "captures-differ"}
}

func stacks() []string {
	return []string{
		"accelerate", "composer", "deepspeed", "horovod", "inductor", "lightning", "llama-cpp", "lmdeploy",
		"megatron", "mpi", "nccl", "nemo", "python", "pytorch", "ray", "sglang", "slurm", "tgi", "torchrun",
		"transformer-engine", "transformers", "trtllm", "vllm",
	}
}

func metrics() []string {
	return []string{"allocated", "available", "free", "graphs", "private_pools", "reserved", "used"}
}

func trends() []string { return []string{"growing", "flat", "falling"} }

// checkWhen checks a condition; line is where it stands. No condition is right
// too: it always holds.
func (c *checker) checkWhen(w *When, s *source, line int) { c.checkWhenAt(w, s, line, 0) }

func (c *checker) checkWhenAt(w *When, s *source, line, depth int) {
	if w == nil {
		return
	}
	if depth > maxWhen {
		c.errorf(s, line, "the condition is nested more than %d deep", maxWhen)
		return
	}
	bad := func(format string, args ...any) { c.errorf(s, line, "condition: "+format, args...) }
	forms := w.forms()
	if len(forms) != 1 {
		bad("set exactly one of all, any, not, message, phase, frame, source, text, metric, stack, version, processes; this has %v", forms)
	}
	needs := func(key, value, of, ofValue string) {
		if value != "" && ofValue == "" {
			bad("%s needs %s", key, of)
		}
	}
	needs("where", w.Where, "message", w.Message)
	needs("fact", w.Fact, "message", w.Message)
	needs("op", w.Op, "fact", w.Fact)
	needs("than", w.Than, "op", w.Op)
	needs("op", w.Op, "than", w.Than)
	needs("function", w.Function, "frame", w.Frame)
	needs("trend", w.Trend, "metric", w.Metric)
	needs("metric", w.Metric, "trend", w.Trend)
	needs("same", w.Same, "message", w.Message)
	needs("same", w.Same, "distinct", w.Distinct)
	needs("distinct", w.Distinct, "same", w.Same)
	if (w.Same != "") != (w.AtLeast > 1) {
		bad("same needs at_least = 2 or more")
	}
	if w.Times != 0 && w.Than == "" {
		bad("times needs than")
	}
	oneOf := func(key, value string, all []string) {
		if value != "" && !slices.Contains(all, value) {
			bad("%s = %q is none of %s", key, value, strings.Join(all, ", "))
		}
	}
	oneOf("where", w.Where, []string{"initiator", "run"})
	oneOf("op", w.Op, operators())
	oneOf("phase", w.Phase, phases())
	oneOf("metric", w.Metric, metrics())
	oneOf("trend", w.Trend, trends())
	oneOf("stack", w.Stack, stacks())
	oneOf("processes", w.Processes, []string{"one", "several"})
	if w.Message != "" {
		c.checkFact(w, bad)
	}
	if w.Version != nil {
		c.checkVersion(w.Version, bad)
	}
	for i := range w.All {
		c.checkWhenAt(&w.All[i], s, line, depth+1)
	}
	for i := range w.Any {
		c.checkWhenAt(&w.Any[i], s, line, depth+1)
	}
	c.checkWhenAt(w.Not, s, line, depth+1)
}

// checkFact checks the message of a condition and the facts it compares.
func (c *checker) checkFact(w *When, bad func(string, ...any)) {
	if c.set.Message(w.Message) == nil {
		bad("there is no message %q", w.Message)
		return
	}
	kinds := c.set.Kinds(w.Message)
	for _, name := range []string{w.Same, w.Distinct} {
		if _, ok := kinds[name]; name != "" && !ok {
			bad("message %q has no fact %q", w.Message, name)
		}
	}
	if w.Fact == "" {
		return
	}
	kind, ok := kinds[w.Fact]
	if !ok {
		bad("message %q has no fact %q", w.Message, w.Fact)
		return
	}
	if w.Than == "" || kind == KindText {
		return
	}
	if _, ok := kinds[w.Than]; !ok && !quantity.MatchString(w.Than) {
		bad("than = %q is neither a fact of %q nor a quantity such as \"2.00 GiB\"", w.Than, w.Message)
	}
}

// checkVersion checks a comparison of versions: a message must print what it asks.
func (c *checker) checkVersion(v *Version, bad func(string, ...any)) {
	if !slices.Contains(operators(), v.Op) {
		bad("version: op = %q is none of %s", v.Op, strings.Join(operators(), ", "))
	}
	if !release.MatchString(v.Than) {
		bad("version: than = %q is no version such as \"0.12\"", v.Than)
	}
	for _, m := range c.set.matchers {
		if m.compiled().kinds[v.Fact()] == KindText {
			return
		}
	}
	bad("version: no message has the text fact %q", v.Fact())
}

// forms names the forms of the condition that are set.
func (w *When) forms() []string {
	var set []string
	for _, form := range []struct {
		name string
		set  bool
	}{
		{"all", w.All != nil},
		{"any", w.Any != nil},
		{"not", w.Not != nil},
		{"message", w.Message != ""},
		{"phase", w.Phase != ""},
		{"frame", w.Frame != ""},
		{"source", w.Source != ""},
		{"text", w.Text != ""},
		{"metric", w.Metric != ""},
		{"stack", w.Stack != ""},
		{"version", w.Version != nil},
		{"processes", w.Processes != ""},
	} {
		if form.set {
			set = append(set, form.name)
		}
	}
	return set
}
