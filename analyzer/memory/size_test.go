package memory

import (
	"math"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

const eps = 0.005 // half of the last digit of "2.50 GiB"

func gib(x float64) int64 { return int64(math.Round(x * GiB)) }

func TestParseSize(t *testing.T) {
	tests := []struct {
		text             string
		bytes, low, high int64
	}{
		{"2.50 GiB", gib(2.5), gib(2.5 - eps), gib(2.5 + eps)},
		{"31.2gb", gib(31.2), gib(31.15), gib(31.25)}, // Megatron's GB counts GiB
		{"2.3511 GB", gib(2.3511), gib(2.35105), gib(2.35115)},
		{"16 GB", gib(16), gib(15.5), gib(16.5)},
		{"1.00 MiB", MiB, 1043333, 1053819},
		{"512.19 MiB", 537070141, 537064899, 537075384},
		{"64.00 KiB", 65536, 65531, 65541},
		{"1000 bytes", 1000, 1000, 1000}, // not rounded
		{"0 bytes", 0, 0, 0},
		{"0.00 GiB", 0, 0, gib(eps)}, // never below zero
		{"-41.07 GiB", -gib(41.07), -gib(41.075), -gib(41.065)},
		{"1.50 TiB", 3 * TiB / 2, int64(math.Round(1.495 * TiB)), int64(math.Round(1.505 * TiB))},
		{"  2.00 GiB ", gib(2), gib(1.995), gib(2.005)},
	}
	for _, tt := range tests {
		got, ok := ParseSize(tt.text)
		if want := (incident.Size{Bytes: tt.bytes, Low: tt.low, High: tt.high}); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", tt.text, got, ok, want)
		}
	}
}

func TestNoSize(t *testing.T) {
	for _, text := range []string{
		"17179869184.00 GiB", // an unsigned subtraction below zero
		"16777216.00 TiB", "0 EB", "", "GiB", "2.00", "2.00 apples", "two GiB", "1.2.3 GiB", "--1 GiB", "1e3 GiB", "NaN GiB", "Inf bytes", "- GiB", ". GiB",
		"99999999999999999999999999999999 GiB",
	} {
		if got, ok := ParseSize(text); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestScale(t *testing.T) {
	got, ok := Scale("41205.87", MiB)
	want := incident.Size{Bytes: 43207486341, Low: 43207481098, High: 43207491584}
	if !ok || got != want {
		t.Errorf("%+v %v, want %+v", got, ok, want)
	}
	if _, ok := Scale("x", MiB); ok {
		t.Error("no number")
	}
}

func TestFormat(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 bytes", 512: "512 bytes", 1 << 10: "1.00 KiB", 3 << 19: "1.50 MiB", 5 << 29: "2.50 GiB", -5 << 29: "-2.50 GiB", 2 << 40: "2048.00 GiB",
	} {
		if got := Format(bytes); got != want {
			t.Errorf("Format(%d) = %q, want %q", bytes, got, want)
		}
	}
}

// Arithmetic on rounded sizes keeps every value that they may stand for.
func TestIntervals(t *testing.T) {
	a, b := incident.Size{Bytes: 10, Low: 9, High: 12}, incident.Size{Bytes: 4, Low: 3, High: 5}
	for name, tt := range map[string]struct{ got, want incident.Size }{
		"sum":        {Add(a, b), incident.Size{Bytes: 14, Low: 12, High: 17}},
		"difference": {Sub(a, b), incident.Size{Bytes: 6, Low: 4, High: 9}},
		"half":       {Times(a, 0.5), incident.Size{Bytes: 5, Low: 5, High: 6}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, tt.got, tt.want)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"2.50 GiB", "0 bytes", "31.2gb", "17179869184.00 GiB", "-1 MiB", "..", "1.GiB", "0EB", "0.0000000000000000000001 TiB", "00000000000000000000000001 GB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := ParseSize(text)
		if !ok {
			return
		}
		if s.Low > s.Bytes || s.Bytes > s.High || s.High > 2*MaxSize || s.Low < -2*MaxSize {
			t.Fatalf("%q: %+v", text, s)
		}
		again, ok := ParseSize(Format(s.Bytes))
		if !ok || again.Low > s.Bytes || again.High < s.Bytes {
			t.Fatalf("%q is %d bytes, printed as %q and read as %+v", text, s.Bytes, Format(s.Bytes), again)
		}
	})
}
