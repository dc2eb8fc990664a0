package memory

import (
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// Derive adds to the facts of an out-of-memory message what follows from them.
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
func Derive(facts map[string]incident.Fact, exception string) {
	allocated, okA := facts["allocated"]
	unallocated, okU := facts["unallocated"]
	if _, ok := facts["private_pools"]; !ok && okU && exception == "torch.OutOfMemoryError" {
		facts["private_pools"] = size(incident.Size{}, "0 bytes")
	}
	if okA && okU {
		facts["reserved"] = sized(Add(allocated.Size, unallocated.Size))
	} else if total, ok := facts["total_reserved"]; ok {
		facts["reserved"] = total
	}
	pools, okP := facts["private_pools"]
	switch {
	case okA && okP:
		facts["live"] = sized(Sub(allocated.Size, pools.Size))
	case okA && !okU:
		facts["live"] = allocated
	}
}

// Exception returns the name in front of an out-of-memory text, "" if the text
// starts otherwise: "torch.OutOfMemoryError: CUDA out of memory. ...".
func Exception(text string) string {
	name, _, ok := strings.Cut(text, ": ")
	if !ok || strings.Contains(name, " ") {
		return ""
	}
	return name
}

func sized(s incident.Size) incident.Fact { return size(s, Format(s.Bytes)) }

func size(s incident.Size, text string) incident.Fact {
	return incident.Fact{Kind: incident.KindSize, Text: text, Size: s}
}
