package signatures

import (
	"maps"
	"slices"
)

// Set is a loaded collection of messages and failures. It does not change after
// loading and is safe for concurrent use.
type Set struct {
	messages []*Message
	failures []*Failure
	matchers []*matcher // one for each message, in the same order
	byID     map[string]*matcher
	macros   *macroTable
	anchors  *anchorIndex
	codes    map[string]map[string]string // words by fact and spelling
}

// origin is where a message stands: the nth of its file.
type origin struct {
	file *source
	nth  int
}

func newSet() *Set {
	return &Set{byID: map[string]*matcher{}, macros: newMacroTable(), codes: map[string]map[string]string{}}
}

// addMessage adds a message. Of two with the same id the first is found.
func (s *Set) addMessage(m *Message, at origin) {
	compiled := &matcher{message: m, at: at, macros: s.macros}
	s.messages = append(s.messages, m)
	s.matchers = append(s.matchers, compiled)
	if s.byID[m.ID] == nil {
		s.byID[m.ID] = compiled
	}
}

// Messages returns all messages, in the order of the files.
func (s *Set) Messages() []*Message { return slices.Clone(s.messages) }

// Failures returns all failures, in the order of the files.
func (s *Set) Failures() []*Failure { return slices.Clone(s.failures) }

// Message returns the message with this id, or nil.
func (s *Set) Message(id string) *Message {
	if m := s.byID[id]; m != nil {
		return m.message
	}
	return nil
}

// Failure returns the failure with this id, or nil.
func (s *Set) Failure(id string) *Failure {
	for _, f := range s.failures {
		if f.ID == id {
			return f
		}
	}
	return nil
}

// Anchors returns the anchors of all messages, sorted, each once.
func (s *Set) Anchors() []string {
	var all []string
	for _, m := range s.messages {
		all = append(all, m.Anchors...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Kinds returns the facts that a message can give, with their kinds.
func (s *Set) Kinds(id string) map[string]string {
	m := s.byID[id]
	if m == nil {
		return nil
	}
	kinds := maps.Clone(m.compiled().kinds)
	for _, name := range m.message.Derived {
		kinds[name] = KindSize
	}
	return kinds
}
