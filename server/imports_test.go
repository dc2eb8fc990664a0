package server_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/graphtrap/graphtrap/"

// layers are the parts of the program from the top down. Each may import those
// below it, and none above.
var layers = []string{"cmd", "server", "analyzer", "signatures"}

// forbidden are the packages that a layer may not import by itself.
var forbidden = map[string][]string{
	"server":     {"net", "net/...", "os/exec"},
	"analyzer":   {"net", "net/...", "os/exec", "os", "os/...", "io/ioutil", "syscall", "go.lsp.dev/..."},
	"signatures": {"net", "net/...", "os/exec", "os", "os/...", "io/ioutil", "syscall", "go.lsp.dev/..."},
}

// TestImports keeps the arrows between the layers, keeps the analyzer free of
// files and processes, and the network out of all of them.
func TestImports(t *testing.T) {
	root := ".."
	files := 0
	for _, layer := range layers {
		err := filepath.WalkDir(filepath.Join(root, layer), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
				strings.Contains(filepath.ToSlash(file), "/testdata/") {
				return err
			}
			files++
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range parsed.Imports {
				name, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if name == "os/exec" && strings.Contains(filepath.ToSlash(file), "/lsptest/") {
					continue // an editor for tests starts the program
				}
				if why := refuse(layer, name); why != "" {
					t.Errorf("%s imports %s: %s", filepath.ToSlash(file), name, why)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 20 {
		t.Errorf("only %d files were looked at", files)
	}
}

// refuse says why a layer may not import a package; empty if it may.
func refuse(layer, name string) string {
	if ours, ok := strings.CutPrefix(name, module); ok {
		to, _, _ := strings.Cut(ours, "/")
		switch {
		case path.Base(ours) == "lsptest":
			return "it is for tests"
		case slices.Index(layers, to) < slices.Index(layers, layer):
			return "imports go " + strings.Join(layers, " -> ")
		}
		return ""
	}
	for _, pattern := range forbidden[layer] {
		prefix, under := strings.CutSuffix(pattern, "...")
		if name == pattern || under && strings.HasPrefix(name, prefix) && name != "net/url" {
			return layer + " may not"
		}
	}
	return ""
}

func TestRefuse(t *testing.T) {
	for _, tt := range []struct {
		layer, name string
		ok          bool
	}{
		{"server", "net", false},
		{"server", "net/http", false},
		{"server", "net/url", true},
		{"server", "os", true},
		{"server", "os/exec", false},
		{"server", module + "analyzer/incident", true},
		{"server", module + "cmd/graphtrap", false},
		{"server", module + "server/lsptest", false},
		{"analyzer", "os", false},
		{"analyzer", "go.lsp.dev/protocol", false},
		{"analyzer", module + "server/position", false},
		{"analyzer", module + "signatures", true},
		{"signatures", module + "analyzer/incident", false},
		{"signatures", "embed", true},
		{"cmd", "net/http", true},
	} {
		if got := refuse(tt.layer, tt.name) == ""; got != tt.ok {
			t.Errorf("%s imports %s: allowed %v, want %v", tt.layer, tt.name, got, tt.ok)
		}
	}
}
