package server_test

import (
	"context"
	"flag"
	"io"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

var update = flag.Bool("update", false, "write what the server says into the cases")

// TestProtocol runs the conversations of testdata/protocol with the real analysis.
// Package endtoend runs them with the program.
func TestProtocol(t *testing.T) {
	lsptest.Cases(t, "../testdata/protocol", *update, func(t *testing.T) (*lsptest.Client, func() int) {
		log := zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel))
		return lsptest.Run(t, func(in io.Reader, out io.Writer) int {
			return server.New(server.Config{Version: "test", Log: log}).Serve(context.Background(), in, out)
		})
	})
}
