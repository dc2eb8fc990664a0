package server

import (
	"fmt"
	"time"

	"go.lsp.dev/protocol"
)

type traceParams struct {
	Value string `json:"value"`
}

// setTrace turns the tracing of messages on and off. A value that does not exist
// turns it off.
func (s *Server) setTrace(p *traceParams) error {
	s.traceFrom(protocol.TraceValue(p.Value))
	return nil
}

func (s *Server) traceFrom(asked protocol.TraceValue) {
	value := protocol.TraceValueOff
	for _, known := range []protocol.TraceValue{protocol.TraceValueMessages, protocol.TraceValueVerbose} {
		if asked == known {
			value = known // and not the text of the message, which would be kept
		}
	}
	s.clientLog.trace.Store(value)
}

// traceMessage tells a client that traces of one message that was handled: its
// method, how long it took and, if verbose, its size. Never its content.
func (s *Server) traceMessage(name string, call bool, size int, took time.Duration, err error) {
	if !s.clientLog.tracing() {
		return
	}
	kind, outcome := "notification", "handled"
	if call {
		kind, outcome = "request", "answered"
		if err != nil {
			outcome = "refused"
		}
	}
	s.clientLog.put(logLine{
		text:    fmt.Sprintf("%s %s %s in %.1f ms", kind, clipText(name), outcome, float64(took.Microseconds())/1000),
		verbose: fmt.Sprintf("params of %d bytes", size),
	})
}
