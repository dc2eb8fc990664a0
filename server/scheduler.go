package server

import (
	"context"
	"sync"
	"time"

	"go.lsp.dev/uri"
)

// maxWait bounds how long a document that keeps changing goes without an analysis.
const maxWait = 500 * time.Millisecond

// scheduler runs the jobs of documents: of each document one at a time, and of
// those that wait only the newest.
type scheduler struct {
	debounce time.Duration

	mu        sync.Mutex
	documents map[uri.URI]*jobs
	stopped   bool
}

// jobs are those of one document.
type jobs struct {
	running *job
	waiting *job // for its time, or, when it is due, for the end of the running one
}

type job struct {
	ctx    context.Context
	cancel context.CancelFunc
	run    func(ctx context.Context, since time.Time)
	timer  *time.Timer
	due    bool
	// since is when the first of the changes came that no job has started for.
	since time.Time
}

// urgency says when a job is to run.
type urgency int

const (
	// atOnce cancels the one that runs.
	atOnce urgency = iota
	// afterAPause cancels the one that runs, and waits until no newer one has come for
	// a moment.
	afterAPause
	// afterTheOther waits as well, and lets the one that runs come to its end: what it
	// finds is of use, and a document that grows all the time would never see one end.
	afterTheOther
)

func newScheduler(debounce time.Duration) *scheduler {
	return &scheduler{debounce: debounce, documents: map[uri.URI]*jobs{}}
}

// schedule replaces the document's jobs by run: at once, or when no newer one has
// come for a moment.
func (s *scheduler) schedule(base context.Context, key uri.URI, wait bool, run func(context.Context)) {
	when := atOnce
	if wait {
		when = afterAPause
	}
	s.submit(base, key, when, func(ctx context.Context, _ time.Time) { run(ctx) })
}

// submit replaces the document's waiting job by run, which is told since when there
// have been changes that no job has started for.
func (s *scheduler) submit(base context.Context, key uri.URI, when urgency, run func(ctx context.Context, since time.Time)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	d := s.documents[key]
	if d == nil {
		d = &jobs{}
		s.documents[key] = d
	}
	now := time.Now()
	j := &job{run: run, since: now}
	if old := d.waiting; old != nil {
		j.since = old.since
		old.end()
	}
	if d.running != nil && when != afterTheOther {
		d.running.cancel()
	}
	var delay time.Duration
	if when != atOnce {
		delay = max(0, min(s.debounce, j.since.Add(maxWait).Sub(now)))
	}
	j.ctx, j.cancel = context.WithCancel(base)
	d.waiting = j
	j.timer = time.AfterFunc(delay, func() {
		for j := s.start(key, j); j != nil; j = s.next(key, j) {
			if j.ctx.Err() == nil {
				j.run(j.ctx, j.since)
			}
		}
	})
}

// start makes a waiting job the running one, if its turn has come.
func (s *scheduler) start(key uri.URI, j *job) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[key]
	if d == nil || d.waiting != j {
		return nil // there is a newer one, or the document was dropped
	}
	if j.due = true; d.running != nil {
		return nil // which starts it when it ends
	}
	d.waiting, d.running = nil, j
	return j
}

// next ends a job, and returns the one that waited for that.
func (s *scheduler) next(key uri.URI, j *job) *job {
	j.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[key]
	if d == nil || d.running != j {
		return nil // the document was dropped in the meantime
	}
	d.running = nil
	switch {
	case d.waiting == nil:
		delete(s.documents, key)
	case d.waiting.due:
		d.waiting, d.running = nil, d.waiting
	}
	return d.running
}

// end takes a job back.
func (j *job) end() {
	j.cancel()
	if j.timer != nil {
		j.timer.Stop()
	}
}

// drop cancels the document's jobs.
func (s *scheduler) drop(key uri.URI) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(key)
}

func (s *scheduler) dropLocked(key uri.URI) {
	if d := s.documents[key]; d != nil {
		for _, j := range []*job{d.running, d.waiting} {
			if j != nil {
				j.end()
			}
		}
		delete(s.documents, key)
	}
}

// stop cancels all jobs and takes no more.
func (s *scheduler) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for key := range s.documents {
		s.dropLocked(key)
	}
}
