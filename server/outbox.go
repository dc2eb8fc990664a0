package server

import (
	"context"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/session"
)

// maxMessages bounds the messages to the user that wait to be sent.
const maxMessages = 16

// outbox sends what the client did not ask for, from one goroutine. A client that
// does not read blocks that goroutine and no other: of the diagnostics of a
// document only the newest wait.
type outbox struct {
	client protocol.Client
	log    *zap.Logger

	mu       sync.Mutex
	waiting  map[uri.URI]publication
	order    []uri.URI // of waiting, oldest first
	messages []*protocol.ShowMessageParams
	wake     chan struct{}
}

// publication are the diagnostics of one document, by its URI as the client
// spelled it.
type publication struct {
	params *protocol.PublishDiagnosticsParams
	// valid tells whether they are still worth sending.
	valid func() bool
}

func newOutbox(c protocol.Client, log *zap.Logger) *outbox {
	return &outbox{client: c, log: log, waiting: map[uri.URI]publication{}, wake: make(chan struct{}, 1)}
}

// publish sends the diagnostics of a version, unless it is no longer current.
func (o *outbox) publish(p *protocol.PublishDiagnosticsParams, valid func() bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !valid() {
		return
	}
	o.put(p, valid)
}

// clear takes back what was published.
func (o *outbox) clear(d *session.Snapshot) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(&protocol.PublishDiagnosticsParams{URI: d.URI, Diagnostics: []protocol.Diagnostic{}}, func() bool { return true })
}

func (o *outbox) put(p *protocol.PublishDiagnosticsParams, valid func() bool) {
	if _, ok := o.waiting[p.URI]; !ok {
		o.order = append(o.order, p.URI)
	}
	o.waiting[p.URI] = publication{p, valid}
	o.signal()
}

// show tells the user something. What does not fit is only logged.
func (o *outbox) show(kind protocol.MessageType, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.messages) >= maxMessages {
		o.log.Warn("message to the user dropped")
		return
	}
	o.messages = append(o.messages, &protocol.ShowMessageParams{Type: kind, Message: text})
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run sends until ctx ends.
func (o *outbox) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		}
		for ctx.Err() == nil {
			send := o.next()
			if send == nil {
				break
			}
			if err := o.guarded(ctx, send); err != nil {
				o.log.Debug("notification not sent", zap.Error(err))
			}
		}
	}
}

// guarded outlives a panic: the outbox serves the whole session.
func (o *outbox) guarded(ctx context.Context, send func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			panicked := session.Recovered(p)
			o.log.Error("panic", zap.String("in", "outbox"), zap.String("kind", panicked.Kind), zap.ByteString("stack", panicked.Stack))
			err = panicked
		}
	}()
	return send(ctx)
}

// next takes out what is to be sent next; nil when there is nothing.
func (o *outbox) next() func(context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.messages) > 0 {
		m := o.messages[0]
		o.messages = slices.Delete(o.messages, 0, 1)
		return func(ctx context.Context) error { return o.client.ShowMessage(ctx, m) }
	}
	for len(o.order) > 0 {
		p := o.waiting[o.order[0]]
		delete(o.waiting, o.order[0])
		o.order = slices.Delete(o.order, 0, 1)
		if p.valid() {
			return func(ctx context.Context) error { return o.client.PublishDiagnostics(ctx, p.params) }
		}
	}
	return nil
}
