package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/session"
)

const (
	// progressDelay is how long work takes before it is shown with a token of the
	// server's own: what is done in a moment shows nothing.
	progressDelay = 250 * time.Millisecond
	// progressStep is the least time between two reports.
	progressStep = 100 * time.Millisecond
)

// progresses are the tokens of the work that can be cancelled.
type progresses struct {
	mu      sync.Mutex
	cancels map[protocol.ProgressToken]context.CancelFunc
	next    int
}

func (p *progresses) add(token protocol.ProgressToken, cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancels == nil {
		p.cancels = map[protocol.ProgressToken]context.CancelFunc{}
	}
	p.cancels[token] = cancel
}

func (p *progresses) remove(token protocol.ProgressToken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.cancels, token)
}

// token makes a token that no other work has.
func (p *progresses) token() protocol.ProgressToken {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	return protocol.String(fmt.Sprintf("graphtrap/%d", p.next))
}

type cancelProgressParams struct {
	Token json.RawMessage `json:"token"`
}

// cancelProgress serves window/workDoneProgress/cancel. Tokens that are not in use
// mean nothing: the work may have just ended.
func (s *Server) cancelProgress(p *cancelProgressParams) error {
	var token protocol.ProgressToken
	var text string
	var number int32
	switch {
	case json.Unmarshal(p.Token, &text) == nil:
		token = protocol.String(text)
	case json.Unmarshal(p.Token, &number) == nil:
		token = protocol.Integer(number)
	default:
		return nil
	}
	s.progresses.mu.Lock()
	defer s.progresses.mu.Unlock()
	if cancel := s.progresses.cancels[token]; cancel != nil {
		cancel()
	}
	return nil
}

// scanned counts the bytes that an analysis has seen, for who looks at it.
type scanned struct{ done, total atomic.Int64 }

// tell is what an analyzer calls.
func (c *scanned) tell(done, total int64) {
	c.total.Store(total)
	c.done.Store(done)
}

func (c *scanned) now() (done, total int64) { return c.done.Load(), c.total.Load() }

// progress shows work to the user while it goes on. One goroutine writes its
// messages, so a client that does not read holds up nothing else.
type progress struct {
	end  chan string
	done chan struct{}
}

// startProgress begins to show work under the request's token, at once, or else
// under one of the server's own if the client can show it. now tells how far the
// work is. The context that it returns ends with ctx and when the user cancels.
// The work must end with finish.
//
// It writes to the client, so only requests may use it.
func (s *Server) startProgress(ctx context.Context, client session.Client, token protocol.ProgressToken, title string, now func() (done, total int64)) (context.Context, *progress) {
	ours := token == nil
	if ours && !client.WorkDoneProgress {
		return ctx, nil
	}
	if ours {
		token = s.progresses.token()
	}
	ctx, cancel := context.WithCancel(ctx)
	s.progresses.add(token, cancel)
	p := &progress{end: make(chan string, 1), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer cancel()
		defer s.progresses.remove(token)
		s.showProgress(p, token, ours, title, now)
	}()
	return ctx, p
}

// finish shows the work as ended. It returns when that is said, so that it comes
// before the response; message may be empty.
func (p *progress) finish(message string) {
	if p == nil {
		return
	}
	p.end <- message
	<-p.done
}

// showProgress writes the messages of one progress. They go out under the
// session's context: cancelled work has an end as well.
func (s *Server) showProgress(p *progress, token protocol.ProgressToken, ours bool, title string, now func() (done, total int64)) {
	if ours {
		select {
		case <-time.After(progressDelay):
		case <-p.end:
			return
		}
		created := make(chan error, 1)
		asking, stop := context.WithCancel(s.base)
		defer stop()
		go func() {
			created <- s.client.WorkDoneProgressCreate(asking, &protocol.WorkDoneProgressCreateParams{Token: token})
		}()
		select {
		case err := <-created:
			if err != nil {
				<-p.end
				return
			}
		case <-p.end: // it was never shown; the client may forget the token
			return
		}
	}
	send := func(value any) {
		encoded, err := protocol.Marshal(value)
		if err == nil {
			err = s.client.Progress(s.base, &protocol.ProgressParams{Token: token, Value: encoded})
		}
		if err != nil {
			s.log.Debug("progress not sent", zap.Error(err))
		}
	}
	send(&protocol.WorkDoneProgressBegin{Kind: "begin", Title: title, Cancellable: ptr(true), Percentage: ptr(uint32(0))})
	tick := time.NewTicker(progressStep)
	defer tick.Stop()
	shown := uint32(0)
	for {
		select {
		case message := <-p.end:
			last := &protocol.WorkDoneProgressEnd{Kind: "end"}
			if message != "" {
				last.Message = &message
			}
			send(last)
			return
		case <-tick.C:
		}
		done, total := now()
		if percent := percentage(done, total); percent > shown {
			shown = percent
			send(&protocol.WorkDoneProgressReport{
				Kind: "report", Cancellable: ptr(true), Percentage: &percent,
				Message: ptr(fmt.Sprintf("%s of %s MiB read", mebibytes(done), mebibytes(total))),
			})
		}
	}
}

// percentage is 100 only for what is done.
func percentage(done, total int64) uint32 {
	if total <= 0 || done <= 0 {
		return 0
	}
	return uint32(min(100, math.Floor(100*float64(done)/float64(total))))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.0f", float64(n)/(1<<20)) }
