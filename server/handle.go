package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/graphtrap/graphtrap/server/session"
)

// maxRequests bounds the requests that run at a time; more are refused.
const maxRequests = 64

// requestFailed is LSP's code for a well-formed request that cannot be served.
const requestFailed jsonrpc2.Code = -32803

// method handles the messages of one name.
type method struct {
	// call is set for a request, which is answered.
	call bool
	// inline is set for a request that later messages must not overtake.
	inline bool
	run    func(context.Context, *session.View, []byte) (any, error)
}

// request makes a method of a function that answers.
func request[P, R any](f func(context.Context, *session.View, *P) (R, error)) method {
	return method{call: true, run: func(ctx context.Context, view *session.View, raw []byte) (any, error) {
		var p P
		if err := protocol.Unmarshal(raw, &p); err != nil {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "invalid params: %v", err)
		}
		return f(ctx, view, &p)
	}}
}

// notification makes a method of a function that only changes the session.
func notification[P any](f func(*P) error) method {
	return method{run: func(_ context.Context, _ *session.View, raw []byte) (any, error) {
		var p P
		if err := protocol.Unmarshal(raw, &p); err != nil {
			return nil, paramsError{err}
		}
		return nil, f(&p)
	}}
}

// paramsError is the error for params that cannot be decoded. Its message may quote
// them, and so text of a document.
type paramsError struct{ error }

// Unwrap gives the decoder's error.
func (e paramsError) Unwrap() error { return e.error }

// logFailure tells of a notification that was not taken.
func (s *Server) logFailure(name string, err error) {
	if quoting := (paramsError{}); errors.As(err, &quoting) {
		s.log.Warn("notification with params that cannot be read", zap.String("method", name))
		s.log.Debug("why", zap.Error(err))
		return
	}
	s.log.Warn("notification failed", zap.String("method", name), zap.Error(err))
}

// table lists the methods that the server knows. Requests that are not in it are
// answered with MethodNotFound, notifications are ignored.
func (s *Server) table() map[string]method {
	return map[string]method{
		protocol.MethodInitialize: {call: true, inline: true, run: s.initializeRaw},
		protocol.MethodShutdown:   {call: true, inline: true, run: s.shutdown},
		protocol.MethodExit:       {run: s.exitNow},

		protocol.MethodInitialized:                     {run: s.initialized},
		protocol.MethodSetTrace:                        notification(s.setTrace),
		protocol.MethodWorkspaceDidChangeConfiguration: notification(s.didChangeConfiguration),
		protocol.MethodWorkspaceDidChangeWatchedFiles:  notification(s.didChangeWatchedFiles),
		protocol.MethodWindowWorkDoneProgressCancel:    notification(s.cancelProgress),
		protocol.MethodWorkspaceTextDocumentContent:    request(s.textDocumentContent),

		protocol.MethodTextDocumentDidOpen:   notification(s.didOpen),
		protocol.MethodTextDocumentDidChange: {run: s.didChangeRaw},
		protocol.MethodTextDocumentDidClose:  notification(s.didClose),

		protocol.MethodWorkspaceDidChangeWorkspaceFolders: notification(s.didChangeWorkspaceFolders),

		protocol.MethodTextDocumentDiagnostic:  request(s.documentDiagnostic),
		protocol.MethodWorkspaceDiagnostic:     {call: true, run: s.workspaceDiagnosticRaw},
		protocol.MethodTextDocumentHover:       request(s.hover),
		protocol.MethodTextDocumentInlayHint:   request(s.inlayHint),
		protocol.MethodTextDocumentCodeAction:  request(s.codeAction),
		protocol.MethodCodeActionResolve:       request(s.resolveCodeAction),
		protocol.MethodWorkspaceExecuteCommand: request(s.executeCommand),

		protocol.MethodTextDocumentCodeLens:          request(s.codeLens),
		protocol.MethodTextDocumentDefinition:        request(s.definition),
		protocol.MethodTextDocumentReferences:        request(s.references),
		protocol.MethodTextDocumentDocumentHighlight: request(s.documentHighlight),
		protocol.MethodTextDocumentDocumentLink:      request(s.documentLink),
		protocol.MethodTextDocumentDocumentSymbol:    request(s.documentSymbol),
		protocol.MethodTextDocumentFoldingRange:      request(s.foldingRange),
		protocol.MethodWorkspaceSymbol:               request(s.workspaceSymbol),

		protocol.MethodTextDocumentSemanticTokensFull:  request(s.semanticTokensFull),
		protocol.MethodTextDocumentSemanticTokensRange: request(s.semanticTokensRange),
	}
}

// handle is the connection's handler. It runs on the reading goroutine until it
// returns or, for a request, lets go of it.
//
// The context of a message is recycled with it, so nothing may be derived from
// reqCtx; what a handler gets is derived from the session's.
func (s *Server) handle(reqCtx context.Context, r *jsonrpc2.Request) (result any, err error) {
	ctx, cancel := context.WithCancel(s.base)
	defer cancel()
	name, call := strings.Clone(r.Method()), r.IsCall()
	start, size := time.Now(), len(r.Params())
	defer func() {
		s.traceMessage(name, call, size, time.Since(start), err)
	}()
	defer func() {
		if p := recover(); p != nil {
			s.logPanic(name, session.Recovered(p), zap.Int("bytes", size))
			result, err = nil, jsonrpc2.Errorf(jsonrpc2.InternalError, "internal error in %s", name)
		}
		if !call {
			if err != nil {
				s.logFailure(name, err)
			}
			result, err = nil, nil // an error here would end the connection
			return
		}
		if err != nil {
			result, err = nil, s.wireError(name, size, err)
		}
	}()

	if !call && name == protocol.MethodCancelRequest {
		s.cancel(r.Params())
		return nil, nil
	}
	if err := s.admit(name, call); err != nil {
		return nil, err
	}
	m, ok := s.methods[name]
	if !ok || m.call != call {
		if call {
			return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "method not found: %s", name)
		}
		s.log.Debug("notification ignored", zap.String("method", name))
		return nil, nil
	}
	if call {
		id := r.ID()
		if err := s.register(id, cancel, m.inline); err != nil {
			return nil, err
		}
		defer s.unregister(id)
	}
	view := s.store.View() // the documents as of this point of the wire
	if call && !m.inline {
		jsonrpc2.Async(reqCtx) // the next message is read from here on
	}
	return m.run(ctx, view, r.Params())
}

// register makes a request known to $/cancelRequest. There is always room for those
// that start and end the session.
func (s *Server) register(id jsonrpc2.ID, cancel context.CancelFunc, always bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, dup := s.running[id]; dup {
		return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "a request of this id is in flight")
	}
	if len(s.running) >= maxRequests && !always {
		return jsonrpc2.Errorf(requestFailed, "more than %d requests in flight", maxRequests)
	}
	s.running[id] = cancel
	return nil
}

func (s *Server) unregister(id jsonrpc2.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, id)
}

// cancel serves $/cancelRequest. Ids of other kinds than the two that exist, and
// of requests that are not in flight, mean nothing.
func (s *Server) cancel(params []byte) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	var id jsonrpc2.ID
	var number int64
	var text string
	switch {
	case len(p.ID) == 0 || string(p.ID) == "null":
		return
	case json.Unmarshal(p.ID, &number) == nil:
		id = jsonrpc2.NewNumberID(number)
	case json.Unmarshal(p.ID, &text) == nil:
		id = jsonrpc2.NewStringID(text)
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[id]; cancel != nil {
		cancel()
	}
}

// wireError gives an error the code that tells the client what it means.
func (s *Server) wireError(name string, size int, err error) error {
	var coded *jsonrpc2.Error
	var panicked *session.PanicError
	switch {
	case errors.As(err, &panicked):
		s.logPanic(name, panicked, zap.Int("bytes", size))
		return jsonrpc2.Errorf(jsonrpc2.InternalError, "internal error in %s", name)
	case errors.Is(err, context.Canceled):
		return protocol.ErrRequestCancelled
	case errors.As(err, &coded):
		return err
	}
	return jsonrpc2.NewError(requestFailed, err.Error())
}

// logPanic tells of a panic in one line, without text of any document: where it was,
// in which version, and, in fields, how large the message or the document is.
func (s *Server) logPanic(where string, p *session.PanicError, fields ...zap.Field) {
	s.log.Error("panic", append([]zap.Field{
		zap.String("in", where), zap.String("kind", p.Kind),
		zap.String("version", s.config.Version), zap.ByteString("stack", p.Stack),
	}, fields...)...)
}
