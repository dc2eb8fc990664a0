package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Shared is a value that is computed once, however many ask for it. The
// computation runs as long as anyone waits for it, and is cancelled when the last
// one gives up; the next to ask then starts it anew. The zero value is ready.
type Shared[T any] struct {
	mu      sync.Mutex
	value   T
	known   bool
	current *computation[T]
}

type computation[T any] struct {
	cancel  context.CancelFunc
	done    chan struct{}
	waiting int
	value   T
	err     error
}

// PanicError is what a computation that panicked leaves behind. Its message has
// no text that came from outside.
type PanicError struct {
	Kind  string
	Stack []byte
}

// Error implements the error interface.
func (e *PanicError) Error() string { return "panic of type " + e.Kind }

// Recovered makes a [PanicError] of what recover returned.
func Recovered(p any) *PanicError {
	return &PanicError{Kind: fmt.Sprintf("%T", p), Stack: debug.Stack()}
}

// Get returns the value, computing it in a goroutine under base if need be. It
// returns early with ctx's error when ctx ends.
func (s *Shared[T]) Get(ctx, base context.Context, compute func(context.Context) (T, error)) (T, error) {
	s.mu.Lock()
	if s.known {
		defer s.mu.Unlock()
		return s.value, nil
	}
	c := s.current
	if c == nil {
		c = s.start(base, compute)
	}
	c.waiting++
	s.mu.Unlock()

	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.waiting--; c.waiting == 0 {
		c.cancel()
		if s.current == c {
			s.current = nil
		}
	}
	var zero T
	return zero, ctx.Err()
}

// Peek returns the value if it is known already.
func (s *Shared[T]) Peek() (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, s.known
}

func (s *Shared[T]) start(base context.Context, compute func(context.Context) (T, error)) *computation[T] {
	ctx, cancel := context.WithCancel(base)
	c := &computation[T]{cancel: cancel, done: make(chan struct{})}
	s.current = c
	go func() {
		defer cancel()
		defer close(c.done)
		defer func() {
			if p := recover(); p != nil {
				c.err = Recovered(p)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.current == c {
				s.current = nil
			}
			if c.err == nil && !s.known {
				s.value, s.known = c.value, true
			}
		}()
		c.value, c.err = compute(ctx)
	}()
	return c
}
