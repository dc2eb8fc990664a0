package endtoend_test

import (
	"testing"

	"github.com/graphtrap/graphtrap/server/lsptest"
)

// TestProtocol runs the conversations of testdata/protocol with the program.
// Package server runs them in its own process, and writes what is expected.
func TestProtocol(t *testing.T) {
	lsptest.Cases(t, "../../testdata/protocol", false, func(t *testing.T) (*lsptest.Client, func() int) { return serve(t) })
}
