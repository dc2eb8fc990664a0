package line

import (
	"math"
	"testing"
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

func TestStampTime(t *testing.T) {
	tests := []struct {
		name, raw   string
		clock       incident.Clock
		at          string // RFC 3339, "" if the text is no moment
		granularity float64
	}{
		// The digits behind the second are CLOCK_MONOTONIC's nanoseconds: no part of the time.
		{"c10d", "[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] x", incident.Wall, "0000-11-25T01:25:02Z", 1},
		{"c10d, month not padded", "[E624 22:12:40.310223437 ProcessGroupNCCL.cpp:2057] x", incident.Wall, "0000-06-24T22:12:40Z", 1},
		{"torch logging", "W1220 03:44:31.184000 1201 torch/distributed/run.py:792] x", incident.Wall, "0000-12-20T03:44:31.184Z", 1e-6},
		{"29 February", "W0229 03:44:31.184000 1201 torch/distributed/run.py:792] x", incident.Wall, "0000-02-29T03:44:31.184Z", 1e-6},
		{"Python's logging", "2026-09-22 10:11:04,120 INFO x", incident.Wall, "2026-09-22T10:11:04.12Z", 1e-3},
		{"whole seconds", "[2026-10-30 07:03:54 TP6] x", incident.Wall, "2026-10-30T07:03:54Z", 1},
		{"CRI", "2026-05-05T22:09:25.010000000Z stderr F x", incident.Wall, "2026-05-05T22:09:25.01Z", 1e-9},
		{"with a zone", "2026-05-05T22:09:25.5+02:00 x", incident.Wall, "2026-05-05T20:09:25.5Z", 1e-1},
		{"vLLM, no year", "ERROR 07-19 02:44:22 [a.py:470] x", incident.Wall, "0000-07-19T02:44:22Z", 1},
		{"TensorRT-LLM", "[11/28/2026-04:13:22] [TRT-LLM] [I] x", incident.Wall, "2026-11-28T04:13:22Z", 1},
		{"ctime", "Thu Nov 12 01:54:27 2026[2]<stderr>:x", incident.Wall, "2026-11-12T01:54:27Z", 1},
		{"dmesg counts from the boot", "[12345.678901] NVRM: Xid (PCI:0000:af:00): 79, x", incident.Monotonic, "", 1},
		{"no such day", "2026-13-45 10:11:04,120 INFO x", incident.ClockUnknown, "", 1e-3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := one(t, tt.raw, Layout{}).Stamp.Time()
			if got == nil {
				t.Fatal("no time")
			}
			at := ""
			if got.At != nil {
				at = got.At.Format(time.RFC3339Nano)
			}
			if got.Clock != tt.clock || at != tt.at || math.Abs(got.Granularity/tt.granularity-1) > 1e-9 {
				t.Errorf("%s %q, granularity %g; want %s %q, %g", got.Clock, at, got.Granularity, tt.clock, tt.at, tt.granularity)
			}
		})
	}
}

func TestNoStampNoTime(t *testing.T) {
	if got := one(t, "[rank3]: x", Layout{}).Stamp.Time(); got != nil {
		t.Errorf("%+v", got)
	}
}

// The outermost time is one clock for the whole file; an inner one is not.
func TestOuterTimeCounts(t *testing.T) {
	p := one(t, "2026-05-05T22:09:25.01Z stderr F ERROR 07-19 02:44:22 [a.py:470] x", Layout{})
	if p.Stamp.Text != "2026-05-05T22:09:25.01Z" {
		t.Errorf("%q", p.Stamp.Text)
	}
}
