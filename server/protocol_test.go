package server_test

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
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

// TestEveryFeatureHasACase, and every command.
func TestEveryFeatureHasACase(t *testing.T) {
	files, err := filepath.Glob("../testdata/protocol/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	cases := all.String()
	for _, method := range positional {
		if !strings.Contains(cases, "\n-- request "+method+" --\n") {
			t.Errorf("no case asks for %s", method)
		}
	}
	c, _ := start(t, server.Config{})
	capabilities := c.Initialize("", nil).Capabilities
	t.Cleanup(c.Shutdown)
	for _, command := range capabilities.ExecuteCommandProvider.Commands {
		if !strings.Contains(cases, `"command": "`+command+`"`) {
			t.Errorf("no case has %s run", command)
		}
	}
}
