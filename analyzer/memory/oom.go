package memory

import (
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Derive adds to the facts of an out-of-memory message what follows from them,
// and takes out figures that cannot be.
//
// "Allocated by PyTorch" (A) contains "allocated in private pools" (P), which
// sums the idle blocks of graph pools and not the live ones, so that
//
//	reserved = A + U      live = A - P      idle in graph pools = P
//
// where U is "reserved by PyTorch but unallocated". (PyTorch's
// CUDACachingAllocator.cpp, DeviceCachingAllocator::malloc.)
//
// The clause about private pools is left out when P is 0, and in releases that
// do not know it. torch.OutOfMemoryError is the name of the exception from 2.5
// on, so that its absence means 0 there and nothing elsewhere.
//
// What the processes on the card use is in processes.go, the shares of the card
// in shares.go.
func Derive(facts map[string]incident.Fact, exception string) {
	_, okU := facts["unallocated"]
	if _, ok := facts["private_pools"]; !ok && okU && exception == "torch.OutOfMemoryError" {
		facts["private_pools"] = size(incident.Size{}, "0 bytes")
	}
	dropImpossible(facts)
	allocator(facts)
	processes(facts)
	shares(facts)
}

// allocator adds what the allocator's own figures say of each other.
func allocator(facts map[string]incident.Fact) {
	allocated, okA := facts["allocated"]
	unallocated, okU := facts["unallocated"]
	total, old := facts["total_reserved"]
	switch {
	case okA && okU:
		facts["reserved"] = sized(Add(allocated.Size, unallocated.Size))
	case old:
		facts["reserved"] = total
	}
	pools, okP := facts["private_pools"]
	switch {
	case okA && okP:
		facts["live"] = sized(atLeastZero(Sub(allocated.Size, pools.Size)))
	case okA && old: // "already allocated" counts live tensors only
		facts["live"] = allocated
	}
}

// The figures of a message that cannot be larger than the card, and those that can
// where the card is a slice of a larger one.
var (
	withinCard = []string{"free", "in_use", "other_in_use", "second_in_use"}
	nearlyCard = []string{"allocated", "unallocated", "private_pools", "total_reserved"}
)

// ofSlice is how many times the capacity of a slice, or of an integrated card, the
// allocator may count.
const ofSlice = 2

// dropImpossible takes out what an unsigned subtraction below zero left, such as
// 17179869183.99 GiB: unknown, not zero. (Sizes beyond any card's were left out
// when they were read.)
func dropImpossible(facts map[string]incident.Fact) {
	if card, ok := facts["capacity"]; ok && card.Size.Bytes > 0 {
		drop := func(name string, most int64) {
			if f, ok := facts[name]; ok && f.Size.Low > most {
				delete(facts, name)
			}
		}
		for _, name := range withinCard {
			drop(name, card.Size.High)
		}
		for _, name := range nearlyCard {
			drop(name, ofSlice*card.Size.High)
		}
	}
	allocated, okA := facts["allocated"]
	if pools, ok := facts["private_pools"]; ok && okA && pools.Size.Low > allocated.Size.High {
		delete(facts, "private_pools") // a part is larger than its whole
	}
}

// Exception returns the name of the exception whose text is the out-of-memory
// message, "" if none stands in front of it. A logger's own words may come first.
//
//	torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ...
//	[NeMo E 2026-08-02 11:08:20 train:188 rank:1] before cleanup: torch.OutOfMemoryError: CUDA out of memory. ...
func Exception(text string) string {
	const end = "Error: "
	message := strings.Index(text, "out of memory")
	if message < 0 {
		return ""
	}
	i := strings.LastIndex(text[:message], end)
	if i < 0 {
		return ""
	}
	name := text[:i+len(end)-2]
	return name[strings.LastIndexAny(name, " '\"(")+1:]
}

// atLeastZero cuts the part below zero off an interval: rounding alone put it there.
func atLeastZero(s incident.Size) incident.Size {
	return incident.Size{Bytes: max(0, s.Bytes), Low: max(0, s.Low), High: max(0, s.High)}
}

func sized(s incident.Size) incident.Fact { return size(s, Format(s.Bytes)) }

func size(s incident.Size, text string) incident.Fact {
	return incident.Fact{Kind: incident.KindSize, Text: text, Size: s}
}
