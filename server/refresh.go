package server

import (
	"context"
	"sync"

	"go.uber.org/zap"
)

// refresher asks the client to ask again, because what it was told has changed
// through something else than its documents. One request of a kind is under way at
// a time; however often it is wanted meanwhile, one more follows.
type refresher struct {
	mu    sync.Mutex
	state map[string]refreshState
}

type refreshState int

const (
	refreshIdle refreshState = iota
	refreshRunning
	refreshWantedAgain
)

// want has call made, from another goroutine, until ctx ends. It returns at once,
// so a notification may use it. name is the kind: the method of the request.
func (r *refresher) want(ctx context.Context, log *zap.Logger, name string, call func(context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == nil {
		r.state = map[string]refreshState{}
	}
	if r.state[name] != refreshIdle {
		r.state[name] = refreshWantedAgain
		return
	}
	r.state[name] = refreshRunning
	go func() {
		for {
			if err := call(ctx); err != nil {
				log.Debug("refresh not taken", zap.String("method", name), zap.Error(err))
			}
			if !r.again(ctx, name) {
				return
			}
		}
	}()
}

// again ends a request, and reports whether another one was wanted meanwhile.
func (r *refresher) again(ctx context.Context, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state[name] == refreshWantedAgain && ctx.Err() == nil {
		r.state[name] = refreshRunning
		return true
	}
	r.state[name] = refreshIdle
	return false
}
