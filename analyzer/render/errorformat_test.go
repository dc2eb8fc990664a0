package render_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/render"
)

func at(line int64, column int) incident.Location {
	return incident.Location{File: "logs/a b.log", Line: line, Column: column}
}

func errorFormat(t *testing.T, v incident.Verdict) string {
	t.Helper()
	var b strings.Builder
	if err := render.ErrorFormat(&b, &incident.Report{Verdict: v}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestErrorFormat(t *testing.T) {
	stated, other, three, four := at(9, 11), at(12, 1), 3, 4
	got := errorFormat(t, incident.Verdict{
		Status: incident.Diagnosed, Title: "rank 3 started it:\n\x1b[31mout of memory",
		Initiator:    &incident.Initiator{Rank: &three, StatedAt: &stated, Location: &other},
		CoInitiators: []incident.Initiator{{Location: &other}},
		Evidence:     []incident.Evidence{{Location: at(8, 0), Says: "it grew", For: incident.Supports}},
		Collateral:   []incident.Collateral{{Rank: &four, Role: incident.RoleCollateral, Location: at(20, 5), Why: "it waited"}},
		Fixes:        []incident.Fix{{Title: "share one pool"}, {Title: "or none"}},
	})
	want := `logs/a b.log:9:11: error: Rank 3 started it: ?[31mout of memory
logs/a b.log:12:1: error: failed at the same time
logs/a b.log:8:1: note: + it grew
logs/a b.log:20:5: note: rank 4: collateral: it waited
graphtrap: note: fix: share one pool
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is not decided is no error, and the answer is the first line even where it
// has no place.
func TestErrorFormatOfWhatIsNotDecided(t *testing.T) {
	got := errorFormat(t, incident.Verdict{
		Status: incident.Undetermined, Title: "ranks 0-6 only waited",
		MissingFact: &incident.MissingFact{Fact: "what rank 7 printed", How: "kubectl logs"},
	})
	want := "graphtrap: warning: Ranks 0-6 only waited\ngraphtrap: note: the one fact needed: what rank 7 printed: kubectl logs\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := errorFormat(t, incident.Verdict{Status: incident.NoFailureFound, Title: "no failure found"}); got != "graphtrap: note: No failure found\n" {
		t.Errorf("got %q", got)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestErrorFormatOnAFullDisk(t *testing.T) {
	if err := render.ErrorFormat(full{}, &incident.Report{}); err == nil {
		t.Error("no error")
	}
}
