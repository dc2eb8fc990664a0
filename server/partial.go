package server

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"
)

// pieceSize is how many items of a long answer go to the client in one message:
// enough to fill a screen, few enough to be shown at once.
const pieceSize = 256

// deliver gives the items of an answer to the client and returns what the handler
// returns as its result. If the client named a token for partial results and there
// are more than pieceSize items, all of them go in pieces through $/progress, in
// their order and before the response, which is then empty, as the protocol
// wants it. Otherwise the result is the items themselves, never nil.
//
//	func (s *Server) references(ctx context.Context, view *session.View, p *protocol.ReferenceParams) ([]protocol.Location, error) {
//		...
//		return deliver(ctx, s, p.PartialResultToken, locations)
//	}
//
// It fails when the request is cancelled or the client takes no more. It writes to
// the client, so it may be called by requests only, not by notifications and not
// on the goroutine that reads.
func deliver[T any](ctx context.Context, s *Server, token protocol.ProgressToken, items []T) ([]T, error) {
	p := pieces(s, token, func(piece []T) any { return piece })
	if err := p.add(ctx, items...); err != nil {
		return nil, err
	}
	return p.rest(ctx)
}

// partial is a list that goes to the client while it is made; see [pieces].
type partial[T any] struct {
	server *Server
	token  protocol.ProgressToken
	value  func([]T) any
	held   []T
	sent   bool
}

// pieces is for answers that take a while to make: add what is there, return what
// rest gives. value shapes a piece as the request's partial result, which is the
// list itself for most, or an object around it.
//
//	out := pieces(s, p.PartialResultToken, func(piece []protocol.SymbolInformation) any { return piece })
//	for ... {
//		if err := out.add(ctx, symbol); err != nil {
//			return nil, err
//		}
//	}
//	return out.rest(ctx)
func pieces[T any](s *Server, token protocol.ProgressToken, value func([]T) any) *partial[T] {
	return &partial[T]{server: s, token: token, value: value}
}

// add appends items. When enough are there, and more than that, they are sent.
func (p *partial[T]) add(ctx context.Context, items ...T) error {
	p.held = append(p.held, items...)
	if p.token == nil {
		return ctx.Err()
	}
	for len(p.held) > pieceSize {
		if err := p.send(ctx, p.held[:pieceSize]); err != nil {
			return err
		}
		p.held = p.held[pieceSize:]
	}
	return ctx.Err()
}

// rest returns what the response holds: all of a short list, nothing of one that
// was sent in pieces.
func (p *partial[T]) rest(ctx context.Context) ([]T, error) {
	if !p.sent {
		if p.held == nil {
			return []T{}, ctx.Err()
		}
		return p.held, ctx.Err()
	}
	if len(p.held) > 0 {
		if err := p.send(ctx, p.held); err != nil {
			return nil, err
		}
	}
	return []T{}, ctx.Err()
}

// flush sends what is there, however little, to a client that wants pieces.
func (p *partial[T]) flush(ctx context.Context) error {
	if p.token == nil || len(p.held) == 0 {
		return ctx.Err()
	}
	piece := p.held
	p.held = nil
	return p.send(ctx, piece)
}

func (p *partial[T]) send(ctx context.Context, piece []T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	value, err := protocol.Marshal(p.value(piece))
	if err != nil {
		return fmt.Errorf("encoding a partial result: %w", err)
	}
	p.sent = true
	if err := p.server.client.Progress(ctx, &protocol.ProgressParams{Token: p.token, Value: value}); err != nil {
		return fmt.Errorf("sending a partial result: %w", err)
	}
	return nil
}
