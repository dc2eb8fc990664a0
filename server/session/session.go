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
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"go.lsp.dev/uri"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/outline"
	"github.com/graphtrap/graphtrap/server/position"
	"github.com/graphtrap/graphtrap/server/settings"
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
	// Settings are the user's for this document; the store sets them.
	Settings *settings.Settings
	// Scanned is how many bytes of the text an analysis that runs has seen.
	Scanned atomic.Int64
	// Analysis is computed at most once for a version.
	Analysis Shared[*analyzer.Analysis]
	// Outline is read at most once for a version, and only if a request needs it.
	Outline Shared[*outline.Outline]
	// reading is shared by the versions of the document; the store sets it.
	reading *reading

	// lineage ties the versions of the document together; the store sets it.
	lineage *lineage
	// marked is set if the text shows that a document that is perhaps a log is one,
	// spoken if it ever was; told is what Turned knew of it last.
	marked, spoken, told atomic.Bool
}

// Watched reports whether what is found in the document is shown: it was asked for,
// or it is a log. Of one that may be a log this is not known until it was analysed.
func (s *Snapshot) Watched() bool {
	return s.Analysable() && (s.Asked || s.marked.Load() || LikenessOf(s.Language, s.Key) == ALog)
}

// Analysable reports whether the document is analysed unasked, or was asked for.
func (s *Snapshot) Analysable() bool {
	return !s.Broken && (s.Asked || s.automatic() && LikenessOf(s.Language, s.Key) != NotALog)
}

// Doubtful reports whether it takes an analysis to see if the document is a log.
func (s *Snapshot) Doubtful() bool {
	return !s.Asked && LikenessOf(s.Language, s.Key) == PerhapsALog
}

// automatic reports whether the settings let the document be diagnosed unasked.
func (s *Snapshot) automatic() bool {
	return s.Settings == nil || s.Settings.AutomaticAnalysis && int64(s.Text.Len()) <= s.Settings.MaxDocumentBytes
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
	scopes    settings.Scopes
}

// Settings are the user's for a document or a folder, open or not; with an empty
// key those that hold everywhere.
func (v *View) Settings(key uri.URI) *settings.Settings { return v.scopes.For(key) }

// Document finds an open document by its canonical URI.
func (v *View) Document(key uri.URI) *Snapshot { return v.documents[key] }

// Documents are the open documents, in no order.
func (v *View) Documents() iter.Seq2[uri.URI, *Snapshot] { return maps.All(v.documents) }

// Store holds the current view. Its methods may be called at any time.
type Store struct {
	mu   sync.Mutex
	view atomic.Pointer[View]
	// changed is closed at the next change.
	changed chan struct{}
}

// NewStore is a store with an empty view.
func NewStore() *Store {
	s := &Store{changed: make(chan struct{})}
	s.view.Store(&View{scopes: settings.Scopes{Everywhere: settings.Default()}})
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
	close(s.changed)
	s.changed = make(chan struct{})
}

// Changed is closed as soon as the view is no longer current.
func (s *Store) Changed(v *View) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view.Load() != v {
		done := make(chan struct{})
		close(done)
		return done
	}
	return s.changed
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

// Configure sets the user's settings. It returns the documents for which they
// differ from before, as they were and as they are now, not yet analysed.
func (s *Store) Configure(scopes settings.Scopes) (changed []Change) {
	s.change(func(v *View) {
		v.scopes = scopes
		documents := maps.Clone(v.documents)
		for key, old := range v.documents {
			if reflect.DeepEqual(old.Settings, scopes.For(key)) {
				continue
			}
			next := old.Next(old.Version, old.Text)
			next.Settings = scopes.For(key)
			next.follow(old)
			documents[key] = next
			changed = append(changed, Change{Before: old, Now: next})
		}
		v.documents = documents
	})
	return changed
}

// Change is one document before and after a change of settings.
type Change struct{ Before, Now *Snapshot }

// Put sets the current version of a document, and gives it the user's settings.
func (s *Store) Put(d *Snapshot) {
	s.change(func(v *View) {
		d.Settings = v.Settings(d.Key)
		d.follow(v.documents[d.Key])
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
			next.Settings = v.Settings(next.Key)
			next.follow(old)
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
