package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/message"
)

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// fill puts values into a sentence. ok is false if one of them is not known:
// then the sentence says nothing and is left out.
func fill(text string, values map[string]string) (filled string, ok bool) {
	ok = true
	filled = placeholder.ReplaceAllStringFunc(text, func(name string) string {
		v, known := values[name[1:len(name)-1]]
		if !known {
			ok = false
		}
		return v
	})
	return strings.TrimSpace(filled), ok
}

// values are what sentences about an event may use: its facts as printed, and
// what is computed from them. Shares are of the figures named, in percent.
func values(e *message.Event) map[string]string {
	v := map[string]string{}
	if e == nil {
		return v
	}
	for name, f := range e.Facts {
		v[name] = f.Text
		if f.Kind == incident.KindSeconds {
			v[name] = fmt.Sprintf("%g", f.Number) // the sentence says seconds
		}
	}
	share := func(name, part, whole string) {
		a, okA := e.Facts[part]
		b, okB := e.Facts[whole]
		if okA && okB && b.Size.Bytes > 0 {
			v[name] = fmt.Sprintf("%.0f %%", 100*float64(a.Size.Bytes)/float64(b.Size.Bytes))
		}
	}
	share("pools_of_capacity", "private_pools", "capacity")
	share("pools_of_reserved", "private_pools", "reserved")
	if a, ok := e.Facts["private_pools"]; ok {
		if b, ok := e.Facts["requested"]; ok && b.Size.Bytes > 0 {
			v["pools_per_request"] = times(float64(a.Size.Bytes) / float64(b.Size.Bytes))
		}
		v["private_pools"] = memory.Format(a.Size.Bytes)
	}
	if name := e.Origin.Name(); name != "" {
		v["who"] = name
	} else {
		v["who"] = "the process"
	}
	if e.Traceback != nil {
		v["exception"] = e.Traceback.Exception
	}
	return v
}

func times(x float64) string {
	switch {
	case x >= 10:
		return fmt.Sprintf("%.0f times", x)
	case x >= 2:
		return fmt.Sprintf("%.1f times", x)
	}
	return fmt.Sprintf("%.2f times", x)
}

func upperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func place(e *message.Event) string { return fmt.Sprintf("line %d", e.At.Number) }

func unknownTitle(e *message.Event) string {
	if e.ID == message.PythonException {
		text := strings.TrimLeft(strings.TrimSpace(e.At.Text), "| ")
		return "it raised " + line.Quote(cut(text, 120))
	}
	if says, ok := Says(e); ok && says != "" {
		first, _, _ := strings.Cut(says, ". ")
		return lowerFirst(strings.TrimSuffix(first, "."))
	}
	return line.Quote(cut(strings.TrimSpace(e.At.Text), 120))
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}

func (q *Inquiry) title(f *finding, what string) string {
	switch {
	case f.symmetric:
		return fmt.Sprintf("All %d ranks failed alike: %s", len(f.tied)+1, what)
	case len(f.tied) > 0:
		var names []string
		for _, e := range append([]*message.Event{f.event}, f.tied...) {
			names = append(names, e.Origin.Name())
		}
		return fmt.Sprintf("%s failed at the same moment: %s", upperFirst(list(names)), what)
	}
	name := f.origin.Name()
	switch {
	case name == "":
		return upperFirst(what)
	case !q.Run.Several:
		return upperFirst(what)
	}
	return fmt.Sprintf("%s started it: %s", upperFirst(name), what)
}

func (q *Inquiry) summary(f *finding, what string, v *incident.Verdict) string {
	who := f.origin.Name()
	if who == "" || !q.Run.Several {
		who = "the process"
	}
	first := fmt.Sprintf("%s failed first, at %s: %s.", upperFirst(who), place(f.event), strings.TrimSuffix(what, "."))
	if len(f.tied) > 0 {
		first = fmt.Sprintf("%d processes failed by themselves within what the clock can tell, the first to print at %s: %s.", len(f.tied)+1, place(f.event), strings.TrimSuffix(what, "."))
	}
	return strings.TrimSpace(first + " " + v.Summary)
}

func list(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	switch len(names) {
	case 0:
		return "several processes"
	case 1:
		return names[0]
	}
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// lowerFirst leaves names such as NCCL and EngineCore_DP0 as they are.
func lowerFirst(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if word == "" || strings.ContainsFunc(word[1:], func(r rune) bool { return r < 'a' || r > 'z' }) {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
