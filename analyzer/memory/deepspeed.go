package memory

import (
	"regexp"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// What DeepSpeed prints. GB counts powers of 1024, and zeros at the end of the
// two decimals are left out: 12.5 is 12.50.

var (
	// [2026-09-22 10:11:04,120] [INFO] [utils.py:781:see_memory_usage] After capture, step 12
	// [2026-09-22 10:11:04,121] [INFO] [utils.py:782:see_memory_usage] MA 10.12 GB         Max_MA 11.02 GB         CA 14.55 GB         Max_CA 15 GB
	// [2026-09-22 10:11:04,121] [INFO] [utils.py:789:see_memory_usage] CPU Virtual Memory:  used = 36.79 GB, percent = 3.7%
	deepspeedLevels = regexp.MustCompile(`\bMA (-?\d+(?:\.\d+)?) GB\s+Max_MA \d+(?:\.\d+)? GB\s+CA (-?\d+(?:\.\d+)?) GB\s+Max_CA `)
	// epoch=0/micro_step=100/global_step=50, RunningAvgSamplesPerSec=2.1, CurrSamplesPerSec=2.2, MemAllocated=10.12GB, MaxMemAllocated=11.02GB
	deepspeedThroughput = regexp.MustCompile(`\bMemAllocated=(-?\d+(?:\.\d+)?)GB, MaxMemAllocated=`)
	//  | mem_allocated: 10.1234 GB | max_mem_allocated: 11.0234 GB | cache_allocated: 14.5512 GB | max_cache_allocated: 15.0000 GB
	deepspeedBreakdown = regexp.MustCompile(`\| mem_allocated: (-?\d+(?:\.\d+)?) GB \| max_mem_allocated: \d+(?:\.\d+)? GB \| cache_allocated: (-?\d+(?:\.\d+)?) GB`)
)

// title is what a report is about; its figures stand on a later line.
type title struct {
	text   string
	origin incident.Key
	line   int64
}

// nearTitle is how many lines may stand between a title and its figures: other
// processes print in between.
const nearTitle = 8

// deepspeedReport reads a report of three lines: what it is about, the figures
// and the host's memory, which is not the card's.
func deepspeedReport(r *Reader, f *figures) bool {
	_, said, named := strings.Cut(f.text, "see_memory_usage] ")
	m := deepspeedLevels.FindStringSubmatch(f.text)
	if m == nil {
		if named && !strings.HasPrefix(said, "CPU Virtual Memory") {
			r.title = title{strings.Clone(said), f.place.Origin.Key(), f.place.Number}
		}
		return named
	}
	f.label = "MA CA"
	if t := r.title; t.text != "" && t.origin == f.place.Origin.Key() && f.place.Number-t.line <= nearTitle {
		f.label = t.text
	}
	r.title = title{}
	f.size(Allocated, twoDecimals(m[1]), "GB")
	f.size(Reserved, twoDecimals(m[2]), "GB")
	return true
}

// deepspeedTimer reads the reports at steps.
func deepspeedTimer(_ *Reader, f *figures) bool {
	if m := deepspeedThroughput.FindStringSubmatch(f.text); m != nil {
		f.size(Allocated, twoDecimals(m[1]), "GB")
		return true
	}
	m := deepspeedBreakdown.FindStringSubmatch(f.text)
	if m == nil {
		return false
	}
	f.size(Allocated, m[1], "GB")
	f.size(Reserved, m[2], "GB")
	return true
}

// twoDecimals puts back the zeros that Python's round() drops.
func twoDecimals(number string) string {
	whole, decimals, _ := strings.Cut(number, ".")
	for len(decimals) < 2 {
		decimals += "0"
	}
	return whole + "." + decimals
}
