package timeline

import (
	"testing"
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

func TestElapsed(t *testing.T) {
	at := func(text string, granularity float64) *incident.Time {
		for _, layout := range []string{"2006-01-02T15:04:05.999Z07:00", "2006-01-02 15:04:05.999", "0102 15:04:05"} {
			if when, err := time.Parse(layout, text); err == nil {
				when = when.UTC()
				return &incident.Time{Text: text, Clock: incident.Wall, Granularity: granularity, At: &when}
			}
		}
		t.Fatalf("%s does not parse", text)
		return nil
	}
	uptime := &incident.Time{Text: "812.5", Clock: incident.Monotonic, Granularity: 0.1}
	for _, tt := range []struct {
		name   string
		a, b   *incident.Time
		want   time.Duration
		within time.Duration
		ok     bool
	}{
		{"later", at("2026-11-28 04:13:22.100", 0.001), at("2026-11-28 04:13:22.500", 0.001), 400 * time.Millisecond, time.Millisecond, true},
		{"earlier", at("2026-11-28 04:13:22", 1), at("2026-11-28 04:01:22.5", 0.1), -12*time.Minute + 500*time.Millisecond, time.Second, true},
		{"days", at("2026-11-28 04:13:22", 1), at("2026-12-01 04:13:22", 1), 72 * time.Hour, time.Second, true},
		{"one without a year", at("2026-11-28 04:13:22", 1), at("1128 04:23:22", 1), 10 * time.Minute, time.Second, true},
		{"one without a year, in another zone as it seems", at("2026-11-28 04:13:22", 1), at("1128 05:13:22", 1), 0, 0, false},
		{"one with a zone", at("2026-11-28 04:13:22", 1), at("2026-11-28T04:23:22Z", 1), 10 * time.Minute, time.Second, true},
		{"one with a zone, and the other not in it", at("2026-11-28 04:13:22", 1), at("2026-11-28T02:13:22Z", 1), 0, 0, false},
		{"both with zones", at("2026-11-28T04:13:22+02:00", 1), at("2026-11-28T02:13:23Z", 1), time.Second, time.Second, true},
		{"no time", nil, at("1128 05:13:22", 1), 0, 0, false},
		{"a clock of another kind", uptime, at("1128 05:13:22", 1), 0, 0, false},
	} {
		got, within, ok := Elapsed(tt.a, tt.b)
		if got != tt.want || within != tt.within || ok != tt.ok {
			t.Errorf("%s: %v, %v, %v, want %v, %v, %v", tt.name, got, within, ok, tt.want, tt.within, tt.ok)
		}
		if back, _, ok := Elapsed(tt.b, tt.a); back != -tt.want || ok != tt.ok {
			t.Errorf("%s, the other way: %v, %v", tt.name, back, ok)
		}
	}
}
