// Package memory does the arithmetic of GPU memory: printed sizes with the
// interval that rounding hides, the decoded numbers of an out-of-memory message,
// and series of reserved and allocated memory over a run.
package memory

import (
	"math"
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Byte units. Frameworks that print GB and MB count in powers of 1024 as well.
const (
	KiB = 1 << 10
	MiB = 1 << 20
	GiB = 1 << 30
	TiB = 1 << 40
)

var units = map[string]float64{
	"bytes": 1, "byte": 1, "b": 1,
	"kib": KiB, "kb": KiB,
	"mib": MiB, "mb": MiB,
	"gib": GiB, "gb": GiB,
	"tib": TiB, "tb": TiB,
}

// MaxSize is the largest size that is believed. The allocator prints more where
// an unsigned subtraction went below zero.
const MaxSize = 64 * TiB

// ParseSize reads "2.50 GiB", "0 bytes", "31.2gb". ok is false if the text is no
// size or one above MaxSize.
func ParseSize(text string) (s incident.Size, ok bool) {
	text = strings.TrimSpace(text)
	i := 0
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.' || i == 0 && text[i] == '-') {
		i++
	}
	unit, known := units[strings.ToLower(strings.TrimSpace(text[i:]))]
	if !known {
		return incident.Size{}, false
	}
	return Scale(text[:i], unit)
}

// Scale reads a bare number that counts units of unit bytes.
func Scale(number string, unit float64) (s incident.Size, ok bool) {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v*unit) > MaxSize {
		return incident.Size{}, false
	}
	half := 0.0
	if unit > 1 {
		half = 0.5
		if dot := strings.IndexByte(number, '.'); dot >= 0 {
			half *= math.Pow10(-(len(number) - dot - 1))
		}
	}
	at := func(x float64) int64 { return int64(math.Round(x * unit)) }
	s = incident.Size{Bytes: at(v), Low: at(v - half), High: at(v + half)}
	if v >= 0 {
		s.Low = max(s.Low, 0)
	}
	return s, true
}

// Format prints a size as PyTorch does.
func Format(bytes int64) string {
	v := float64(bytes)
	switch a := math.Abs(v); {
	case a >= GiB:
		return strconv.FormatFloat(v/GiB, 'f', 2, 64) + " GiB"
	case a >= MiB:
		return strconv.FormatFloat(v/MiB, 'f', 2, 64) + " MiB"
	case a >= KiB:
		return strconv.FormatFloat(v/KiB, 'f', 2, 64) + " KiB"
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

// Sub returns a-b with the intervals widened accordingly.
func Sub(a, b incident.Size) incident.Size {
	return incident.Size{Bytes: a.Bytes - b.Bytes, Low: a.Low - b.High, High: a.High - b.Low}
}

// Add returns a+b with the intervals widened accordingly.
func Add(a, b incident.Size) incident.Size {
	return incident.Size{Bytes: a.Bytes + b.Bytes, Low: a.Low + b.Low, High: a.High + b.High}
}

// Times returns a scaled by f, f >= 0.
func Times(a incident.Size, f float64) incident.Size {
	scale := func(n int64) int64 { return int64(math.Round(float64(n) * f)) }
	return incident.Size{Bytes: scale(a.Bytes), Low: scale(a.Low), High: scale(a.High)}
}
