package pysource

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func addSeeds(f *testing.F) {
	for _, pattern := range []string{"testdata/share/*.py", "testdata/refuse/*.py"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src, frameLine(src))
			f.Add(bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")), frameLine(src))
		}
	}
}

// FuzzScan reads any bytes.
func FuzzScan(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src []byte, line int) {
		s := Scan(src)
		checkSource(t, src, s)
		s.TorchCuda(line)
		s.IndentAt(line)
	})
}

// FuzzSharePool edits any bytes: an edit only inserts, and what it inserts is
// found again.
func FuzzSharePool(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src []byte, line int) {
		before := bytes.Clone(src)
		edit, err := SharePool(src, line)
		if !bytes.Equal(before, src) {
			t.Fatal("the source was written to")
		}
		if err != nil {
			if refusal := (Refusal{}); !errors.As(err, &refusal) {
				t.Fatalf("%T is no refusal", err)
			}
			return
		}
		checkEdit(t, src, edit)
	})
}
