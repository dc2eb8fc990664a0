package memory

import (
	"fmt"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Part is one of the parts that a card's memory is divided into.
type Part struct {
	// Fact is the fact of the message, printed or derived, that tells its size.
	Fact string
	// Called is how a person is told of it: "idle in graph pools".
	Called string
	Size   incident.Size
	// Share is its share of the card, as far as rounding lets it be known: "41 %",
	// "40 to 42 %", "under 1 %".
	Share string
}

var parts = []Part{
	{Fact: "live", Called: "live tensors"},
	{Fact: "private_pools", Called: "idle in graph pools"},
	{Fact: "unallocated", Called: "reserved but unallocated"},
	{Fact: "non_pytorch", Called: "this process beside PyTorch"},
	{Fact: "other_processes", Called: "other processes"},
	{Fact: "free", Called: "free"},
}

// Parts divides the card that an out-of-memory message tells of, as far as its
// facts (after [Derive]) say: none where the card's capacity is not known, or where
// it is a slice of a card, which counts more than it is said to have.
func Parts(facts map[string]incident.Fact) []Part {
	card, ok := facts["capacity"]
	if reserved, known := facts["reserved"]; !ok || card.Size.Bytes <= 0 || known && reserved.Size.Low > card.Size.High {
		return nil
	}
	var out []Part
	for _, p := range parts {
		if f, ok := facts[p.Fact]; ok {
			p.Size, p.Share = f.Size, Percent(f.Size, card.Size)
			out = append(out, p)
		}
	}
	return out
}

// shares adds a sentence part that tells who holds the card, "held_by". It compares
// nothing: conditions compare the sizes themselves, with their intervals.
//
//	live tensors 41 %, idle in graph pools 52 %, reserved but unallocated 3 %, free under 1 %
func shares(facts map[string]incident.Fact) {
	var said []string
	for _, p := range Parts(facts) {
		said = append(said, p.Called+" "+p.Share)
	}
	if len(said) > 1 {
		facts["held_by"] = incident.Fact{Kind: incident.KindText, Text: strings.Join(said, ", ")}
	}
}

// Percent prints a share as far as rounding lets it be known: "41 %", "40 to 42 %".
func Percent(part, whole incident.Size) string {
	if part.High == 0 {
		return "0 %"
	}
	low := 100 * float64(part.Low) / float64(max(1, whole.High))
	high := 100 * float64(part.High) / float64(max(1, whole.Low))
	if high < 1 {
		return "under 1 %"
	}
	a, b := fmt.Sprintf("%.0f", low), fmt.Sprintf("%.0f", high)
	if a == b || high-low < 1 {
		return fmt.Sprintf("%.0f %%", 100*float64(part.Bytes)/float64(whole.Bytes))
	}
	return a + " to " + b + " %"
}
