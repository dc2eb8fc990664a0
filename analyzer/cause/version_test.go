package cause

import (
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

func TestCompareVersions(t *testing.T) {
	tests := []struct {
		printed, op, release string
		want                 incident.Answer
	}{
		{"2.6.0+cu124", ">=", "2.4", yes}, {"2.6.0+cu124", "<", "2.4", no}, {"2.10.1", ">", "2.9", yes},
		{"0.11.0", "<", "0.12", yes}, {"0.4.6.post5", ">=", "0.4.6", yes}, {"0.9", "=", "0.9.0", yes}, {"0.9.1", "!=", "0.9", yes},
		{"v0.8.4", ">=", "0.9", no}, {"2.4.0a0+07cecf4", ">=", "2.3", yes}, {"0.26.1rc1.dev926", ">=", "0.21", yes},
		{"0.12.0rc1", ">=", "0.12", idk}, {"0.12.0rc1", "<", "0.12", idk}, // it may have what the release has, or not
		{"2.4.0a0+07cecf4", ">=", "2.4", idk}, {"0.12.0.dev3", ">=", "0.12", idk},
		{"0.8.00.8.0", "<", "1.0", yes}, // glued to what was printed next
		{"main", ">=", "1", idk}, {"", ">=", "1", idk}, {"2", ">=", "2.0.0", yes}, {"2.1", "~", "2", idk},
	}
	for _, tt := range tests {
		if got := compareVersions(tt.printed, tt.op, tt.release); got != tt.want {
			t.Errorf("%q %s %s: %s, want %s", tt.printed, tt.op, tt.release, got, tt.want)
		}
	}
}

// A version that nobody prints is unknown, and so is one that two lines disagree
// about where that matters.
func TestVersionOfTheRun(t *testing.T) {
	prints := func(versions ...string) *Inquiry {
		run := &timeline.Run{}
		for _, v := range versions {
			run.Events = append(run.Events, &message.Event{Facts: map[string]incident.Fact{
				"transformer_engine_version": {Kind: incident.KindText, Text: v},
			}})
		}
		return &Inquiry{Run: run}
	}
	when := &signatures.When{Version: &signatures.Version{Of: "transformer-engine", Op: ">=", Than: "2.10"}}
	for _, tt := range []struct {
		name string
		q    *Inquiry
		want incident.Answer
	}{
		{"nobody prints it", prints(), idk},
		{"one line", prints("2.11.0"), yes},
		{"two that agree", prints("2.11.0", "2.12.0"), yes},
		{"two that do not", prints("2.11.0", "2.3.0"), idk},
		{"two that do not, and a third", prints("2.11.0", "2.3.0", "2.3.0"), idk},
		{"one that decides nothing", prints("2.10.0.dev0"), idk},
	} {
		if got := tt.q.holds(when, nil).holds; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
