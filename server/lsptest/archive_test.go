package lsptest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchivesKeepTheirForm: what is read and written again is the same text.
func TestArchivesKeepTheirForm(t *testing.T) {
	files, err := filepath.Glob("../../testdata/protocol/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := parseArchive(text)
		if diff := cmp.Diff(string(text), string(a.format())); diff != "" {
			t.Errorf("%s (-read +written):\n%s", file, diff)
		}
		if len(a.sections) == 0 || a.comment == "" {
			t.Errorf("%s has %d sections", file, len(a.sections))
		}
	}
}

func TestSectionNames(t *testing.T) {
	for line, want := range map[string]string{
		"-- open a.log log --\n": "open a.log log", "-- result --\r\n": "result", "-- result --": "result",
		"--  --\n": "", "-- \n": "", "--open--\n": "", " -- open --\n": "", "-- not closed\n": "", "----------\n": "",
	} {
		if got, ok := sectionName(line); got != want && ok || ok != (want != "") {
			t.Errorf("%q names %q, %v; want %q", line, got, ok, want)
		}
	}
}
