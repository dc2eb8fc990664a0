package server

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server/files"
	"github.com/graphtrap/graphtrap/signatures"
)

// knowledge holds the signatures in use: the built-in ones, and those with a folder
// of the user's beside them. Each is loaded when it is first needed.
type knowledge struct {
	version string

	mu     sync.Mutex
	loaded map[string]*loadedSignatures // by folder; "" are the built-in ones alone
}

// chunk is how much of a document is about read again when it has grown, in bytes:
// little enough to be done at once, and enough to cost nothing for a whole log.
const chunk = 128 << 10

type loadedSignatures struct {
	once     sync.Once
	set      *signatures.Set
	analyzer *analyzer.Analyzer
	err      error
	failed   atomic.Bool // err is set
}

func newKnowledge(version string) *knowledge {
	return &knowledge{version: version, loaded: map[string]*loadedSignatures{}}
}

// with gives the signatures that hold with a folder. If the folder cannot be used
// these are the built-in ones; err tells what is wrong with it, or, for an empty
// folder, with the program.
func (k *knowledge) with(folder string) (set *signatures.Set, a *analyzer.Analyzer, err error) {
	k.mu.Lock()
	l := k.loaded[folder]
	if l == nil {
		l = &loadedSignatures{}
		k.loaded[folder] = l
	}
	k.mu.Unlock()
	l.once.Do(func() {
		if folder == "" {
			l.set, l.err = signatures.Builtin()
			if l.err != nil {
				l.err = fmt.Errorf("loading the built-in signatures: %w", l.err)
			}
		} else {
			l.set, l.err = files.Signatures(folder)
		}
		l.failed.Store(l.err != nil)
		if l.err == nil {
			l.analyzer = analyzer.New(l.set, analyzer.Options{Version: k.version, Chunk: chunk})
		}
	})
	if l.err != nil && folder != "" {
		set, a, _ = k.with("")
		return set, a, l.err
	}
	return l.set, l.analyzer, l.err
}

// forget drops what was read of the folders that drop accepts: because they have
// changed, could not be used, or are not used any more.
func (k *knowledge) forget(drop func(folder string, failed bool) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for folder, l := range k.loaded {
		if folder != "" && drop(folder, l.failed.Load()) {
			delete(k.loaded, folder)
		}
	}
}
