package memory

import (
	"fmt"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// parts are what a card's memory is divided into, each part a fact of the message
// or derived from it.
var parts = []struct{ fact, called string }{
	{"live", "live tensors"},
	{"private_pools", "idle in graph pools"},
	{"unallocated", "reserved but unallocated"},
	{"non_pytorch", "this process beside PyTorch"},
	{"other_processes", "other processes"},
	{"free", "free"},
}

// shares adds a sentence part that tells who holds the card, "held_by". It compares
// nothing: conditions compare the sizes themselves, with their intervals.
//
//	live tensors 41 %, idle in graph pools 52 %, reserved but unallocated 3 %, free under 1 %
func shares(facts map[string]incident.Fact) {
	card, ok := facts["capacity"]
	if reserved, known := facts["reserved"]; !ok || card.Size.Bytes <= 0 || known && reserved.Size.Low > card.Size.High {
		return // a slice of a card counts more than it is said to have
	}
	var said []string
	for _, p := range parts {
		if f, ok := facts[p.fact]; ok {
			said = append(said, p.called+" "+percent(f.Size, card.Size))
		}
	}
	if len(said) > 1 {
		facts["held_by"] = incident.Fact{Kind: incident.KindText, Text: strings.Join(said, ", ")}
	}
}

// percent prints a share as far as rounding lets it be known: "41 %", "40 to 42 %".
func percent(part, whole incident.Size) string {
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
