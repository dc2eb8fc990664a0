package signatures

import "slices"

// Set is a loaded and validated collection of messages and failures. It does
// not change after loading and is safe for concurrent use.
type Set struct {
	messages []*Message
	failures []*Failure
	matchers []*matcher // one for each message, in the same order
	anchors  *anchorIndex
	origins  map[*Message]origin
}

// origin is where a message stands in its file.
type origin struct {
	file    *source
	ordinal int
}

// Messages returns all messages, in the order of the files.
func (s *Set) Messages() []*Message { return slices.Clone(s.messages) }

// Failures returns all failures, in the order of the files.
func (s *Set) Failures() []*Failure { return slices.Clone(s.failures) }

// Message returns the message with this id, or nil.
func (s *Set) Message(id string) *Message {
	for _, m := range s.messages {
		if m.ID == id {
			return m
		}
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
	for _, m := range s.matchers {
		if m.message.ID == id {
			kinds := make(map[string]string, len(m.kinds))
			for name, kind := range m.kinds {
				kinds[name] = kind
			}
			for _, name := range m.message.Derived {
				kinds[name] = KindSize
			}
			return kinds
		}
	}
	return nil
}
