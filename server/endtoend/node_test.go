package endtoend_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clientLimit bounds the whole run of the client in folder node.
const clientLimit = 5 * time.Minute

// TestNodeClient runs whole sessions with a client that shares no code with the
// server: the protocol library that VS Code's own client is made of. What it needs
// may be missing, unless GRAPHTRAP_REQUIRE_NODE=1 says that it must be there.
func TestNodeClient(t *testing.T) {
	if testing.Short() {
		t.Skip("the client takes half a minute")
	}
	if missing := missingForNode(); missing != "" {
		if os.Getenv("GRAPHTRAP_REQUIRE_NODE") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	readSources(t)
	testdata, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), clientLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--test", "--test-reporter=spec")
	cmd.Dir = "node"
	cmd.Env = append(os.Environ(), "GRAPHTRAP_PROGRAM="+program, "GRAPHTRAP_TESTDATA="+testdata)
	out, err := cmd.CombinedOutput()
	t.Log("\n" + strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	// Node is content when it finds no test.
	if !strings.Contains(string(out), "✔ close: the diagnostics are taken back") {
		t.Error("the sessions were not run")
	}
}

// missingForNode says what the client lacks here; empty if nothing.
func missingForNode() string {
	if _, err := exec.LookPath("node"); err != nil {
		return "node is not installed"
	}
	if _, err := os.Stat(filepath.FromSlash("node/node_modules/.package-lock.json")); err != nil {
		return "the client's packages are missing: `npm ci --ignore-scripts` in server/endtoend/node"
	}
	return ""
}

// readSources looks into the folders that the program is made of. The go command
// keeps a result only while what the test itself has read stays the same, and the
// program is another process.
func readSources(t *testing.T) {
	t.Helper()
	for _, part := range []string{"analyzer", "cmd", "server", "signatures", "testdata", "go.mod"} {
		err := filepath.WalkDir(filepath.Join("..", "..", part), func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
