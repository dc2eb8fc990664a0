package signatures

import (
	"errors"
	"maps"
	"slices"
)

// CheckSamples runs the samples of every message: each line that must match
// gives exactly the facts it lists, each line that must stay silent does. All
// that is wrong is in the error.
func (s *Set) CheckSamples() error {
	var errs []error
	for _, m := range s.matchers {
		errs = append(errs, s.checkSamples(m.message, m.at)...)
	}
	return errors.Join(errs...)
}

func (s *Set) checkSamples(m *Message, at origin) []error {
	var errs []error
	here := table{"message", at.nth}
	for i, yes := range m.Yes {
		line := at.file.line("line", here, table{"message.yes", i})
		match, ok := s.matchOne(m, yes.Line)
		if !ok {
			errs = append(errs, at.file.errorf(line, "message %q must match but does not: %q", m.ID, yes.Line))
			continue
		}
		facts := match.Facts()
		for _, name := range slices.Sorted(maps.Keys(yes.Facts)) {
			got, ok := facts[name]
			switch {
			case !ok:
				errs = append(errs, at.file.errorf(line, "message %q: fact %s = %q was not found", m.ID, name, yes.Facts[name]))
			case got.Text != yes.Facts[name]:
				errs = append(errs, at.file.errorf(line, "message %q: fact %s is %q, the sample says %q", m.ID, name, got.Text, yes.Facts[name]))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(facts)) {
			if _, ok := yes.Facts[name]; !ok {
				errs = append(errs, at.file.errorf(line, "message %q: the sample does not list the fact %s = %q", m.ID, name, facts[name].Text))
			}
		}
	}
	for i, no := range m.No {
		if _, ok := s.matchOne(m, no.Line); ok {
			line := at.file.line("line", here, table{"message.no", i})
			errs = append(errs, at.file.errorf(line, "message %q must stay silent but matches: %q", m.ID, no.Line))
		}
	}
	return errs
}

func (s *Set) matchOne(m *Message, line string) (Match, bool) {
	for _, match := range s.Match(line) {
		if match.Message == m {
			return match, true
		}
	}
	return Match{}, false
}
