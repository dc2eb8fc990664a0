// Package editors_test runs graphtrap in real editors. An editor that is not at
// hand is skipped, unless GRAPHTRAP_REQUIRE_EDITORS=1 says that all must be
// tested: then what is missing is fetched, into a cache folder of the user.
package editors_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// limit bounds one editor's run, fetching included.
const limit = 10 * time.Minute

// The suites that run inside VS Code's extension host.
func TestVSCode(t *testing.T) {
	prepare(t, missingVSCode)
	drive(t, "node", "vscode/test/run.mjs")
}

// The installed package on a screen, from the failed terminal to the edited source.
func TestVSCodeJourney(t *testing.T) {
	prepare(t, missingVSCode)
	drive(t, "node", "vscode/test/journey.mjs")
}

func missingVSCode() string {
	if missing := missingProgram("node", "npm", "chromium", "python3"); missing != "" {
		return missing
	}
	if _, err := os.Stat(filepath.FromSlash("vscode/node_modules/.package-lock.json")); err != nil {
		return "the extension's packages are missing: `npm ci --ignore-scripts` in editors/vscode"
	}
	return missingCache("vscode/test/host.sh")
}

// The plugin in a Neovim without a screen, and its README followed on one.
func TestNeovim(t *testing.T) {
	prepare(t, missingTerminalEditors)
	drive(t, "bash", "neovim/test/run.sh")
	drive(t, "bash", "neovim/test/screen.sh")
}

func TestHelix(t *testing.T) {
	prepare(t, missingTerminalEditors)
	drive(t, "bash", "helix/test/screen.sh")
}

func TestEmacs(t *testing.T) {
	prepare(t, missingTerminalEditors)
	drive(t, "bash", "emacs/test/run.sh")
}

// Vim, and Neovim without the plugin: the lists that :make and :cfile make.
func TestVim(t *testing.T) {
	prepare(t, missingTerminalEditors)
	drive(t, "bash", "vim/test/run.sh")
}

func missingTerminalEditors() string {
	if missing := missingProgram("python3", "tmux"); missing != "" {
		return missing
	}
	return missingCache("trixie.sh")
}

// prepare skips the test when an editor is missing that need not be there.
func prepare(t *testing.T, missing func() string) {
	t.Helper()
	if testing.Short() {
		t.Skip("real editors are not started in a short run")
	}
	if os.Getenv("GRAPHTRAP_REQUIRE_EDITORS") == "1" {
		return
	}
	if what := missing(); what != "" {
		t.Skip(what)
	}
}

func missingProgram(names ...string) string {
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			return name + " is not installed"
		}
	}
	return ""
}

func missingCache(script string) string {
	if missing := missingProgram("bash"); missing != "" {
		return missing
	}
	if exec.Command("bash", script, "--cached").Run() != nil {
		return "the editor is not in the cache: editors/" + script + " puts it there; then `go test -count=1 ./editors`"
	}
	return ""
}

// drive runs a driver, which prints what passed and fails when a check does.
func drive(t *testing.T, name string, args ...string) {
	t.Helper()
	readAll(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	t.Log("\n" + strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
}

// readAll looks into every folder of the repository. The drivers use them all,
// and the go command keeps a result only while what the test itself has read
// stays the same.
func readAll(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{".git", "node_modules", "dist", "out"}, entry.Name()) {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
