package server

import (
	"context"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server/session"
)

// The phases of a session.
const (
	phaseNew int32 = iota
	phaseRunning
	phaseShutDown
)

// admit refuses what may not be sent in this phase. Notifications that come too
// early or too late are dropped, as the protocol says.
func (s *Server) admit(name string, call bool) error {
	if !call && name == protocol.MethodExit {
		return nil
	}
	switch phase := s.phase.Load(); {
	case phase == phaseNew && name != protocol.MethodInitialize:
		return jsonrpc2.NewError(jsonrpc2.ServerNotInitialized, "initialize comes first")
	case phase == phaseRunning && name == protocol.MethodInitialize:
		return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize was sent before")
	case phase == phaseShutDown:
		return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is shut down; only exit may follow")
	}
	return nil
}

func (s *Server) shutdown(context.Context, *session.View, []byte) (any, error) {
	s.phase.Store(phaseShutDown)
	close(s.closing) // once: admit refuses a second shutdown
	s.scheduler.stop()
	return nil, nil
}

// exitNow only says that the process is to end: closing the connection from a
// handler would wait for itself.
func (s *Server) exitNow(context.Context, *session.View, []byte) (any, error) {
	if s.phase.Load() == phaseShutDown {
		s.stop(0)
	} else {
		s.stop(1)
	}
	return nil, nil
}
