package cause

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
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
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
