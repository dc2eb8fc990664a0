package analyzer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/signatures"
)

// Progress only rises, ends at all bytes of all files, and changes no report.
func TestProgress(t *testing.T) {
	log, err := os.ReadFile("../testdata/cases/sixty-four-ranks/train.log")
	if err != nil {
		t.Fatal(err)
	}
	set, err := signatures.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	files := []analyzer.File{
		{Path: "a.log", Data: bytes.NewReader(log), Size: int64(len(log))},
		{Path: "empty.log", Data: bytes.NewReader(nil)},
		{Path: "b.log", Data: bytes.NewReader(log), Size: int64(len(log))},
	}
	for _, chunk := range []int{0, 50_000} {
		silent := analyzer.New(set, analyzer.Options{Chunk: chunk, Workers: 4})
		var last int64
		calls := 0
		told := silent.WithProgress(func(scanned, total int64) {
			calls++
			if scanned <= last || total != 2*int64(len(log)) || scanned > total {
				t.Errorf("chunk %d: %d of %d after %d", chunk, scanned, total, last)
			}
			last = scanned
		})
		want, err := silent.Diagnose(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		got, err := told.Diagnose(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		if last != 2*int64(len(log)) || chunk > 0 && calls < 2*len(log)/chunk {
			t.Errorf("chunk %d: the last of %d calls told %d of %d bytes", chunk, calls, last, 2*len(log))
		}
		a, _ := json.Marshal(want.Report)
		b, _ := json.Marshal(got.Report)
		if !bytes.Equal(a, b) {
			t.Errorf("chunk %d: the report is another one", chunk)
		}
	}
}
