package message

import (
	"regexp"
	"strings"
)

// E1102 16:20:51.331000 33 torch/distributed/elastic/multiprocessing/api.py:869] ...
var loggerPrefix = regexp.MustCompile(`^[IWEF]\d{3,4} \d\d:\d\d:\d\d`)

// spoken reports whether a line is a program's message. A shell's command lines,
// quoted prose, printed configuration and our own output only mention messages:
//
//	$ dmesg -T | grep -i 'NVRM: Xid'
//	+ torchrun --nproc-per-node 8 train.py
//	> RuntimeError: CUDA error: out of memory
//	config: {"on_error": "CUDA out of memory. Tried to allocate ..."}
//	    [rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ...
//
// A rank's label or a logger's prefix that is indented was copied there.
func spoken(text string) bool {
	t := strings.TrimLeft(text, " ")
	switch {
	case t == "":
		return true // a blank line ends wrapped text
	case strings.HasPrefix(t, "+ Exception Group "): // Python draws it so
		return true
	case strings.HasPrefix(t, "$ "), strings.HasPrefix(t, "+ "), strings.HasPrefix(t, "# "), strings.HasPrefix(t, "% "):
		return false
	case strings.HasPrefix(t, "> ") && !strings.HasPrefix(t, "> File ") && !strings.HasPrefix(t, "> built") && !strings.HasPrefix(t, "> dynamic_engine"):
		return false
	case len(text)-len(t) >= 2 && (strings.HasPrefix(t, "[rank") || loggerPrefix.MatchString(t)):
		return false
	case strings.HasPrefix(t, "config: {"), strings.HasPrefix(t, "Namespace("):
		return false
	case strings.Contains(t, "graphtrap diagnose"):
		return false
	}
	return true
}
