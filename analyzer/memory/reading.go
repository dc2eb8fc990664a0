package memory

import (
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Metric names one figure of a memory report.
type Metric string

// Levels: what is in use, or left, at the moment of the print.
const (
	Reserved     Metric = "reserved"      // by PyTorch's allocator, pools included
	Allocated    Metric = "allocated"     // live tensors
	PrivatePools Metric = "private_pools" // reserved by graph pools
	Used         Metric = "used"          // of the card, or of a process, as the driver counts
	Available    Metric = "available"     // left on the card, as a server's log calls it
	Free         Metric = "free"          // left on the card, as the driver counts
)

// Figures that are no levels: differences, forecasts and counts.
const (
	Taken          Metric = "taken"           // by one round of captures, driver memory included
	AllocatedDelta Metric = "allocated_delta" // by a stage of the run
	Estimated      Metric = "estimated"       // for the captures to come
	KVCache        Metric = "kv_cache"        // left for the cache: a budget
	Graphs         Metric = "graphs"          // how many were recorded: a count, no bytes
)

// falls reports whether the metric goes down where memory in use goes up.
func (m Metric) falls() bool { return m == Available || m == Free }

// Reading is one memory figure that a line printed.
type Reading struct {
	At     incident.Location
	Stamp  line.Stamp
	Origin incident.Origin
	Metric Metric
	// Size is in bytes. Where NoUnit is true it only compares with figures of
	// the same format: the line prints no unit, or a count.
	Size   incident.Size
	NoUnit bool
	// Printed is the figure as it stands in the line.
	Printed string
	// Format is who printed the figure, and its unit. Only figures of one format
	// compare: GB counts powers of 1000 in one print and of 1024 in the next.
	Format string
	// Site is the place in the program, as far as the line's words tell: two lines
	// of one site differ in numbers only.
	Site string
	// Step is the step or iteration that the line states. Graph is the number of
	// the graph that was captured, or how many there are. Nil where it states none.
	Step, Graph *int64
	// Captured is true if the line says that a graph was captured, or counts graphs.
	Captured bool
	// Shared is true if the program that printed it captures a known set of graphs
	// into one pool: that memory rises while it does so is its start and no growth.
	Shared bool
	// Card is true if the figure is about a card, or any process on it, and not
	// about the process that printed the line.
	Card bool

	inWords  bool // Captured, and not for a count of graphs alone
	captures int  // readings at captures in the track so far, this one included
	// time is that of Stamp, read when the reading is kept: a log that grows is
	// reported on again and again.
	time *incident.Time
}

// Anchors are the texts that lines with memory figures are found by. Lines of a
// report's later rows, which hold none, are asked for with [Reader.Waiting].
//
// Each is rare in lines without a figure: "memory", "alloc" and "free" are not.
func Anchors() []string {
	return []string{
		// Hand-written.
		"reserved", "Reserved", "allocated: ", "Allocated: ", "memory_allocated", "Memory cached: ", "alloc=", "alloc: ", "mem_get_info",
		// Megatron.
		"memory (MB) | ", "memory (GB) | ", "create cuda graphs | mem", "| pool reserved=",
		// DeepSpeed.
		"see_memory_usage]", " Max_MA ", "MemAllocated=", "| mem_allocated: ",
		// SGLang and vLLM.
		"avail mem", "avail_mem", "Graph capturing finished in", "Estimated CUDA graph memory", "CUDA graph pool memory", "Available KV cache memory",
		// transformers and Lightning.
		"_mem_gpu_alloc_delta", "allocated_bytes.all.current",
		// torch.cuda.memory_summary(), torch.cuda.list_gpu_processes(), torch.compile.
		"PyTorch CUDA memory summary", "| Allocated memory ", " MB GPU memory", " distinct sizes",
		// nvidia-smi.
		"MiB / ", "N/A  N/A  ", " 00000000:", "memory.used [MiB]", "used_gpu_memory [MiB]", "--query-gpu=", "--query-compute-apps=",
	}
}

// words is the text without digits and signs, cut short: what stays the same
// where one print statement prints again. Of a progress bar only the title counts.
func words(text string) string {
	const enough = 64
	text, _, _ = strings.Cut(text, "%|")
	var b strings.Builder
	for i := 0; i < len(text) && b.Len() < enough; i++ {
		if c := text[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteByte(c)
		}
	}
	return b.String()
}
