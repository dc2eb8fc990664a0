package memory

import (
	"strconv"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/line"
)

// maxLine is the longest line that is read by words: a longer one is a
// configuration dump. Dumps of allocator counters have keys of their own and may
// be longer.
const (
	maxLine  = 2000
	maxStats = 64 << 10
)

// Reader reads the memory figures of one file's lines, in their order. It
// remembers what an earlier line says of a later one's figures: a title, or the
// columns of a table. The zero value is ready.
type Reader struct {
	title title // of the DeepSpeed report that goes on in the next line
	card  string
	table string // device of the memory_summary() table
	rows  *query
}

// format is one way in which a program prints memory figures.
type format struct {
	name string
	// marks are texts, one of which stands in every line of the format.
	marks []string
	// longest is the longest line that is looked at.
	longest int
	// read adds the figures of the line. It reports whether the line is of this
	// format, whether or not it holds a figure that counts: nobody else reads it then.
	read func(r *Reader, f *figures) bool
}

// formats are tried in this order; what people print themselves comes last.
var formats = []format{
	{"megatron", []string{"memory (MB) | ", "memory (GB) | "}, maxLine, megatronReport},
	{"megatron graphs", []string{"create cuda graphs | mem"}, maxLine, megatronGraphs},
	{"megatron pool", []string{"| pool reserved=", "built "}, maxLine, megatronPool},
	{"deepspeed", []string{"see_memory_usage] ", " Max_MA "}, maxLine, deepspeedReport},
	{"deepspeed timer", []string{"MemAllocated=", "| mem_allocated: "}, maxLine, deepspeedTimer},
	{"sglang", []string{"avail mem=", "avail_mem="}, maxLine, sglang},
	{"vllm", []string{"Graph capturing finished in", "CUDA graph memory: ", "CUDA graph pool memory: ", "Available KV cache memory: "}, maxLine, vllm},
	{"transformers", []string{"_mem_gpu_alloc_delta"}, maxStats, transformers},
	{"memory_stats", []string{"d_bytes.all.current", "reserved_bytes_by_private_pools."}, maxStats, memoryStats},
	{"memory_summary", []string{"memory summary, device ID ", "Allocated memory  ", "GPU reserved memory  "}, maxLine, memorySummary},
	{"gpu processes", []string{" MB GPU memory"}, maxLine, gpuProcess},
	{"nvidia-smi", []string{"MiB ", " 00000000:"}, maxLine, smiTable},
	{"nvidia-smi csv", []string{" [MiB]", "--query-"}, maxLine, smiColumns},
	{"distinct sizes", []string{" distinct sizes"}, maxLine, distinctSizes},
	{"mem_get_info", []string{"mem_get_info"}, maxLine, memGetInfo},
	{"pools", poolMarks, maxLine, poolList},
	{"printed", []string{"reserved", "llocated", "alloc", "rsv", "resv", "cached", "Reserved", "Alloc", "RESERVED", "ALLOC"}, maxLine, handWritten},
}

// Read returns the memory figures of the next line, at most one of each metric.
func (r *Reader) Read(p line.Placed) []Reading {
	f := &figures{place: p, text: p.Text}
	if r.rows != nil && r.row(f) {
		return f.found
	}
	for i := range formats {
		k := &formats[i]
		if len(p.Text) > k.longest || !holdsAny(p.Text, k.marks) {
			continue
		}
		f.format = k.name
		if k.read(r, f) {
			return f.found
		}
	}
	return nil
}

// Command takes a line that is a shell's and not a program's: it prints no
// figure, but may say which columns the lines behind it have.
func (r *Reader) Command(text string) {
	if len(text) <= maxLine && strings.Contains(text, "nvidia-smi") {
		r.ask(text)
	}
}

// Waiting reports whether the next line may hold figures though no anchor
// stands in it.
func (r *Reader) Waiting() bool { return r.rows != nil }

func holdsAny(text string, marks []string) bool {
	for _, m := range marks {
		if strings.Contains(text, m) {
			return true
		}
	}
	return false
}

// figures gathers what one line prints.
type figures struct {
	place  line.Placed
	text   string
	format string
	// label is what else is said of the figures: the title above them, or the
	// line itself.
	label  string
	shared bool
	said   *Reading
	found  []Reading
}

// size adds a figure with its unit, "MB".
func (f *figures) size(metric Metric, number, unit string) {
	if factor, ok := units[strings.ToLower(unit)]; ok {
		f.scaled(metric, number, strings.ToLower(unit), factor)
	}
}

// scaled adds a figure that counts so many bytes.
func (f *figures) scaled(metric Metric, number, unit string, bytes float64) {
	if size, ok := Scale(plain(number), bytes); ok {
		f.add(Reading{Metric: metric, Size: size, Printed: number + " " + unit, Format: f.format + " " + unit})
	}
}

// bare adds a figure without a unit. A whole number above a million counts bytes:
// no card has that many of anything else.
func (f *figures) bare(metric Metric, number string) {
	const surelyBytes = 1e6
	if v, err := strconv.ParseInt(plain(number), 10, 64); err == nil && v > surelyBytes {
		f.size(metric, number, "bytes")
		return
	}
	f.unscaled(metric, number, f.format+" without a unit")
}

// noUnit is what one of a figure without a unit is stored as: any factor that
// keeps six digits behind the point would do.
const noUnit = 1 << 20

// count adds a number of things.
func (f *figures) count(metric Metric, number string) { f.unscaled(metric, number, f.format) }

func (f *figures) unscaled(metric Metric, number, format string) {
	if size, ok := Scale(plain(number), noUnit); ok {
		f.add(Reading{Metric: metric, Size: size, NoUnit: true, Printed: number, Format: format})
	}
}

// whole adds a figure that was cut to a whole number of units and not rounded.
func (f *figures) whole(metric Metric, number, unit string) {
	n := len(f.found)
	f.size(metric, number, unit)
	if len(f.found) > n {
		size := &f.found[n].Size
		size.Low, size.High = size.Bytes, size.Bytes+int64(units[strings.ToLower(unit)])-1
	}
}

// add adds a figure. A second one of its metric is another card's or another
// moment's, and is left out.
func (f *figures) add(reading Reading) {
	for i := range f.found {
		if other := &f.found[i]; other.Metric == reading.Metric && other.Card == reading.Card {
			return
		}
	}
	if f.said == nil {
		f.said = f.describe()
	}
	said := *f.said
	said.Metric, said.Size, said.NoUnit, said.Card = reading.Metric, reading.Size, reading.NoUnit, reading.Card
	said.Printed, said.Format = strings.Clone(reading.Printed), reading.Format
	if reading.Card {
		said.Origin = reading.Origin
	}
	f.found = append(f.found, said)
}

// describe is what the line says of all its figures.
func (f *figures) describe() *Reading {
	label := f.label
	if label == "" {
		label = f.text
	}
	at := f.place.Location()
	at.Text = strings.Clone(at.Text) // not the whole of a long line
	said := &Reading{
		At: at, Stamp: f.place.Stamp, Origin: f.place.Origin, Shared: f.shared,
		Step: stepOf(label), Graph: graphOf(label), Site: words(label),
	}
	said.Captured = captured(label) && (said.Graph == nil || *said.Graph > 0)
	said.inWords = said.Captured && tellsOfCapture(label)
	return said
}

// plain takes the commas out of "6,872,367,104".
func plain(number string) string { return strings.ReplaceAll(number, ",", "") }

// cardOf is the origin of a figure about a card or a process on it.
func cardOf(p line.Placed, index, pid *int) incident.Origin {
	return incident.Origin{Host: p.Origin.Host, Device: index, PID: pid}
}
