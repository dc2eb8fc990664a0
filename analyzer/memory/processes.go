package memory

import (
	"regexp"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// ... of which 12.50 MiB is free. Process 412 has 1.20 GiB memory in use. Process 977 has 22.47 GiB memory in use. Of the allocated ...
// ... Including non-PyTorch memory, this process has 78.05 GiB memory in use. Of the allocated ...
var processUse = regexp.MustCompile(`(?:this\s+process|Process\s+(\d+))\s+has\s+(\S+\s+\S+)\s+memory\s+in\s+use`)

// ownOverhead is how much more than the allocator reserves a process may use and
// still be recognised as the same one: its context, its libraries' buffers and the
// driver's part of its graphs.
const ownOverhead = 1 * GiB

// processes adds what the processes on the card use, from the part of the message
// that lists them: in_use of this one, other_processes of all others together, and
// non_pytorch, which this one uses beside the allocator.
//
// In a container the pid that the driver knows is the host's, so that a process
// does not find itself in the list: the one whose use is what the allocator
// reserves and a little more is this one.
func processes(facts map[string]incident.Fact) {
	listed, ok := facts["processes"]
	if _, behind := facts["allocated"]; !ok || !behind {
		return // the list is absent, or the message may be cut within it
	}
	own, named, others, complete := listedUse(listed.Text, facts["capacity"])
	if !complete {
		return
	}
	reserved, known := facts["reserved"]
	switch {
	case named:
		facts["in_use"] = sized(own)
	case known:
		i := itself(others, reserved.Size)
		if i < 0 {
			if larger(others, reserved.Size) {
				return // one of them may be this one with much of other libraries' memory
			}
			break
		}
		own, named = others[i], true
		facts["in_use"] = sized(own)
		others = append(others[:i:i], others[i+1:]...)
	default:
		return
	}
	sum := incident.Size{}
	for _, o := range others {
		sum = Add(sum, o)
	}
	facts["other_processes"] = sized(sum)
	if named && known {
		facts["non_pytorch"] = sized(atLeastZero(Sub(own, reserved.Size)))
	}
}

// listedUse reads the list. complete is false if one of its figures cannot be.
func listedUse(text string, card incident.Fact) (own incident.Size, named bool, others []incident.Size, complete bool) {
	for _, m := range processUse.FindAllStringSubmatch(text, -1) {
		s, ok := ParseSize(m[2])
		if !ok || card.Size.Bytes > 0 && s.Low > card.Size.High {
			return own, named, others, false
		}
		if m[1] == "" {
			own, named = s, true
		} else {
			others = append(others, s)
		}
	}
	return own, named, others, true
}

// itself returns which of the processes uses what this one reserves and up to
// ownOverhead more, -1 if none does, or two do.
func itself(others []incident.Size, reserved incident.Size) int {
	found := -1
	for i, o := range others {
		more := Sub(o, reserved)
		if more.High < 0 || more.Low > ownOverhead {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// larger reports whether one of the processes uses at least what this one reserves.
func larger(others []incident.Size, reserved incident.Size) bool {
	for _, o := range others {
		if o.High >= reserved.Low {
			return true
		}
	}
	return false
}
