package memory

import (
	"regexp"
	"strconv"
)

// torch.cuda.memory_summary() and its relatives, and the warning that counts graphs.

var (
	// |                  PyTorch CUDA memory summary, device ID 0                 |
	summaryHead = regexp.MustCompile(`PyTorch CUDA memory summary, device ID (\d{1,4})\s`)
	// | Allocated memory      |  31904 MiB |  55873 MiB |    120 TiB |    120 TiB |
	// | GPU reserved memory   |  57344 MiB |  57344 MiB |   1024 GiB |    968 GiB |
	// Behind a time the first bar was taken for the time's own.
	summaryRow = regexp.MustCompile(`^\s*(?:\| )?(Allocated memory|GPU reserved memory)\s+\|\s+(\d+) (B|[KMGTP]i?B)\s+\|`)

	// process       4242 uses    78012.000 MB GPU memory
	processRow = regexp.MustCompile(`^\s*process\s+(\d+) uses\s+(\d+(?:\.\d+)?) MB GPU memory`)

	// (used, total)-like prints of torch.cuda.mem_get_info(), which gives (free, total):
	// torch.cuda.mem_get_info()=(1092616192, 84942979072)
	memInfo = regexp.MustCompile(`mem_get_info(?:\([\w:.]*\))?["']?\s{0,2}[:=]\s{0,2}\((\d+), (\d+)\)`)
)

// memorySummary reads the column "Cur Usage", which is cut to whole units.
func memorySummary(r *Reader, f *figures) bool {
	if m := summaryHead.FindStringSubmatch(f.text); m != nil {
		r.table = m[1]
		return true
	}
	m := summaryRow.FindStringSubmatch(f.text)
	if m == nil {
		return false
	}
	if r.table != "" {
		f.format += " device " + r.table // one process prints a table for each card
	}
	f.label = m[1]
	metric := Allocated
	if m[1] != "Allocated memory" {
		metric = Reserved
	}
	f.whole(metric, m[2], m[3])
	return true
}

// gpuProcess reads a line of torch.cuda.list_gpu_processes(): any process on the
// card, the driver's memory included.
func gpuProcess(_ *Reader, f *figures) bool {
	m := processRow.FindStringSubmatch(f.text)
	if m == nil {
		return false
	}
	f.onCard(nil, intOf(m[1]), m[2], "MB")
	return true
}

// memGetInfo reads what the driver has left.
func memGetInfo(_ *Reader, f *figures) bool {
	m := memInfo.FindStringSubmatch(f.text)
	if m == nil {
		return false
	}
	f.size(Free, m[1], "bytes")
	return true
}

// distinctSizes reads the warning of torch.compile that counts its graphs.
//
//	... We have observed 51 distinct sizes. Please consider the following options for better performance: ...
func distinctSizes(_ *Reader, f *figures) bool {
	n := sizesSeen(f.text)
	if n == nil {
		return false
	}
	f.count(Graphs, strconv.FormatInt(*n, 10))
	return true
}
