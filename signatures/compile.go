package signatures

import (
	"fmt"
	"sync"
)

// maxPattern is the longest pattern that is compiled.
const maxPattern = 4 << 10

// matcher is a message with its compiled patterns. They are compiled when they
// are first needed: most messages of the set never occur in a log.
type matcher struct {
	message *Message
	at      origin
	macros  *macroTable

	once     sync.Once
	patterns patterns
}

// patterns is the compiled form of a message.
type patterns struct {
	pattern *search // nil: the anchor is enough
	unless  *search // nil: nothing looks alike
	facts   []*search
	kinds   map[string]string
	errs    []patternError // the message matches nothing if there are any
}

// patternError is what is wrong with a pattern, and under which key it stands.
type patternError struct{ key, text string }

func (m *matcher) compiled() *patterns {
	m.once.Do(func() {
		p := &m.patterns
		p.kinds = map[string]string{}
		if m.message.Pattern != "" {
			p.pattern = p.add(m.macros, "pattern", m.message.Pattern)
		}
		if m.message.Unless != "" {
			p.unless = p.add(m.macros, "unless", m.message.Unless)
		}
		for _, fact := range m.message.Facts {
			p.facts = append(p.facts, p.add(m.macros, "facts", fact))
		}
	})
	return &m.patterns
}

// add compiles one pattern and notes the kinds of its facts.
func (p *patterns) add(macros *macroTable, key, pattern string) *search {
	bad := func(format string, args ...any) {
		p.errs = append(p.errs, patternError{key, fmt.Sprintf(format, args...)})
	}
	if len(pattern) > maxPattern {
		bad("the pattern is longer than %d bytes", maxPattern)
		return nil
	}
	re, kinds, err := macros.compile(pattern)
	if err != nil {
		bad("%v", err)
		return nil
	}
	for name, kind := range kinds {
		if old := p.kinds[name]; old != "" && old != kind {
			bad("fact %q is %s here and %s before: use one macro", name, kind, old)
		}
		p.kinds[name] = kind
	}
	switch named := len(kinds) > 0; {
	case key == "facts" && !named:
		bad("%q captures nothing: name a group, as in (?P<requested>SIZE)", pattern)
	case key == "unless" && named:
		bad("unless captures nothing: write groups as (?:...)")
	}
	return newSearch(re)
}
