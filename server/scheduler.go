package server

import (
	"context"
	"sync"
	"time"

	"go.lsp.dev/uri"
)

// maxWait bounds how long a document that keeps changing goes without an analysis.
const maxWait = 500 * time.Millisecond

// scheduler runs one job for each document: the newest. A newer one cancels it.
type scheduler struct {
	debounce time.Duration

	mu      sync.Mutex
	jobs    map[uri.URI]*job
	stopped bool
}

type job struct {
	cancel context.CancelFunc
	timer  *time.Timer
	// since is when the first of the changes came that no job has started for.
	since time.Time
}

func newScheduler(debounce time.Duration) *scheduler {
	return &scheduler{debounce: debounce, jobs: map[uri.URI]*job{}}
}

// schedule replaces the document's job by run: at once, or when no newer one has
// come for a moment.
func (s *scheduler) schedule(base context.Context, key uri.URI, wait bool, run func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	now := time.Now()
	j := &job{since: now}
	if old := s.jobs[key]; old != nil {
		old.cancel()
		if old.timer.Stop() { // it never started
			j.since = old.since
		}
	}
	var delay time.Duration
	if wait {
		delay = max(0, min(s.debounce, j.since.Add(maxWait).Sub(now)))
	}
	ctx, cancel := context.WithCancel(base)
	j.cancel = cancel
	s.jobs[key] = j
	j.timer = time.AfterFunc(delay, func() {
		defer s.finish(key, j)
		if ctx.Err() == nil {
			run(ctx)
		}
	})
}

func (s *scheduler) finish(key uri.URI, j *job) {
	j.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[key] == j {
		delete(s.jobs, key)
	}
}

// drop cancels the document's job.
func (s *scheduler) drop(key uri.URI) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[key]; j != nil {
		j.cancel()
		j.timer.Stop()
		delete(s.jobs, key)
	}
}

// stop cancels all jobs and takes no more.
func (s *scheduler) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for key, j := range s.jobs {
		j.cancel()
		j.timer.Stop()
		delete(s.jobs, key)
	}
}
