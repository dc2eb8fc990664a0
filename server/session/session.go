// Package session is what the server knows of its client: what it can do, which
// folders it works in, and the text of each open document.
//
// Notifications change a [Store] one after another. A request gets the [View]
// that was current when it arrived and works on that alone, so it needs no lock
// and never sees a half-made change. Documents are immutable [Snapshot]s: a
// change makes a new one.
package session

import (
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server/position"
)

// Snapshot is one version of an open document.
type Snapshot struct {
	// URI is spelled as the client did, for everything that goes back to it. Key
	// is the canonical form, under which the document is found.
	URI, Key uri.URI
	Language string
	Version  int32
	Text     *position.Text
	// Broken is set when a change could not be read: the client's text is another
	// one, so there is nothing to say about this one.
	Broken bool
	// Asked is set when the user asked for the document to be diagnosed.
	Asked bool
	// Analysis is computed at most once for a version.
	Analysis Shared[*analyzer.Analysis]
}

// Watched reports whether the document is diagnosed unasked, or was asked for.
func (s *Snapshot) Watched() bool {
	return !s.Broken && (s.Asked || IsLog(s.Language, s.Key))
}

// Next is the document's next version, not yet analysed.
func (s *Snapshot) Next(version int32, text *position.Text) *Snapshot {
	return &Snapshot{URI: s.URI, Key: s.Key, Language: s.Language, Version: version, Text: text, Broken: s.Broken, Asked: s.Asked}
}

// View is the state of the session at one moment. It is not changed afterwards.
type View struct {
	Client    Client
	Folders   []uri.URI
	documents map[uri.URI]*Snapshot
}

// Document finds an open document by its canonical URI.
func (v *View) Document(key uri.URI) *Snapshot { return v.documents[key] }

// Documents are the open documents, in no order.
func (v *View) Documents() iter.Seq2[uri.URI, *Snapshot] { return maps.All(v.documents) }

// Store holds the current view. Its methods may be called at any time.
type Store struct {
	mu   sync.Mutex
	view atomic.Pointer[View]
}

// NewStore is a store with an empty view.
func NewStore() *Store {
	s := &Store{}
	s.view.Store(&View{})
	return s
}

// View is the current view.
func (s *Store) View() *View { return s.view.Load() }

func (s *Store) change(f func(*View)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.view.Load()
	f(&next)
	s.view.Store(&next)
}

// Start sets what initialize said.
func (s *Store) Start(c Client, folders []uri.URI) {
	s.change(func(v *View) { v.Client, v.Folders = c, folders })
}

// ChangeFolders adds and removes workspace folders.
func (s *Store) ChangeFolders(added, removed []uri.URI) {
	s.change(func(v *View) {
		v.Folders = slices.DeleteFunc(slices.Clone(v.Folders), func(f uri.URI) bool { return slices.Contains(removed, f) })
		for _, f := range added {
			if !slices.Contains(v.Folders, f) {
				v.Folders = append(v.Folders, f)
			}
		}
	})
}

// Put sets the current version of a document.
func (s *Store) Put(d *Snapshot) {
	s.change(func(v *View) {
		v.documents = maps.Clone(v.documents)
		if v.documents == nil {
			v.documents = map[uri.URI]*Snapshot{}
		}
		v.documents[d.Key] = d
	})
}

// Replace puts next in the place of old, unless old is no longer current.
func (s *Store) Replace(old, next *Snapshot) bool {
	done := false
	s.change(func(v *View) {
		if done = v.documents[old.Key] == old; done {
			v.documents = maps.Clone(v.documents)
			v.documents[old.Key] = next
		}
	})
	return done
}

// Remove forgets a document.
func (s *Store) Remove(key uri.URI) {
	s.change(func(v *View) {
		v.documents = maps.Clone(v.documents)
		delete(v.documents, key)
	})
}

// Current reports whether d is still the current version of its document.
func (s *Store) Current(d *Snapshot) bool { return s.View().documents[d.Key] == d }

// logName matches the names under which logs lie: train.log, train.log.3,
// slurm-4711.out, worker.err, stderr.
var logName = regexp.MustCompile(`(?i)(^|\.)(log|out|err)(\.\d+)?$|^std(out|err)(\.\d+)?$`)

// IsLog reports whether a document is taken for a log by its language or its name.
func IsLog(language string, u uri.URI) bool {
	switch strings.ToLower(language) {
	case "log":
		return true
	case "python":
		return false
	}
	return logName.MatchString(path.Base(u.Path()))
}
