package memory

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What nvidia-smi prints: a table for people, or rows of columns that were asked
// for. Its figures are of cards and of any process on them, in MiB.

var (
	// |   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
	smiCard = regexp.MustCompile(`^\|\s+(\d{1,3})\s+\S.*\|\s+[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d\s`)
	// | N/A   35C    P0    58W / 300W |  12345MiB / 81559MiB |      0%      Default |
	smiUsage = regexp.MustCompile(`^\|\s+(?:N/A|\d+%)\s+\d+C\s.*\|\s*(\d+)MiB\s*/\s*\d+MiB\s*\|`)
	// |    0   N/A  N/A      4242      C   /usr/bin/python3                          78012MiB |
	smiProcess = regexp.MustCompile(`^\|\s+(\d{1,3})\s+(?:N/A|\d+)\s+(?:N/A|\d+)\s+(\d+)\s+(?:C|C\+G|M\+C)\s+\S.*\s(\d+)MiB\s*\|`)

	// nvidia-smi --query-gpu=index,memory.used --format=csv,noheader,nounits
	smiQuery = regexp.MustCompile(`nvidia-smi\b.*--query-(?:gpu|compute-apps)=([\w.,]+)`)
	smiCSV   = regexp.MustCompile(`--format=csv\b`)
)

// smiTable reads the table: the first row of a card has its index, the second
// its memory.
func smiTable(r *Reader, f *figures) bool {
	if m := smiCard.FindStringSubmatch(f.text); m != nil {
		r.card = m[1]
		return true
	}
	if m := smiUsage.FindStringSubmatch(f.text); m != nil {
		if r.card != "" {
			f.onCard(intOf(r.card), nil, m[1], "MiB")
		}
		r.card = ""
		return true
	}
	if m := smiProcess.FindStringSubmatch(f.text); m != nil {
		f.onCard(intOf(m[1]), intOf(m[2]), m[3], "MiB")
		return true
	}
	return false
}

// query is a table of which each row is a line. It ends where too many lines are
// none of its rows.
type query struct {
	columns []string
	misses  int
}

// maxMisses is how many other lines may stand in a row between two of a table.
const maxMisses = 16

// smiColumns reads the line that says which columns follow.
//
//	index, memory.used [MiB], memory.total [MiB]
func smiColumns(r *Reader, f *figures) bool {
	if strings.Contains(f.text, "--query-") {
		return r.ask(f.text)
	}
	columns := strings.Split(f.text, ", ")
	for i, c := range columns {
		c = strings.TrimSpace(c)
		c = strings.TrimSuffix(c, " [MiB]")
		if i := strings.IndexByte(c, '['); i > 0 {
			c = strings.TrimSpace(c[:i])
		}
		if strings.ContainsAny(c, " =:") {
			return false // a sentence
		}
		columns[i] = c
	}
	return r.expect(columns)
}

// ask notes the columns that a command asks for.
func (r *Reader) ask(command string) bool {
	m := smiQuery.FindStringSubmatch(command)
	return m != nil && smiCSV.MatchString(command) && r.expect(strings.Split(m[1], ","))
}

// expect waits for rows of the columns, if they tell what is used and by whom:
// without the card's index nobody knows which of eight cards a row is about.
func (r *Reader) expect(columns []string) bool {
	holds := func(names ...string) bool {
		return slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(names, c) })
	}
	if !holds("memory.used", "memory.free", "used_memory", "used_gpu_memory") || !holds("index", "pid") {
		return false
	}
	for i := range columns {
		columns[i] = strings.Clone(columns[i])
	}
	r.rows = &query{columns: columns}
	return true
}

// row reads a row of the table that is waited for.
//
//	0, 12345 MiB, 81559 MiB
func (r *Reader) row(f *figures) bool {
	cells := strings.Split(f.text, ", ")
	if len(cells) != len(r.rows.columns) || !r.rows.fits(cells) {
		r.rows.misses++
		if r.rows.misses > maxMisses {
			r.rows = nil
		}
		return false
	}
	r.rows.misses = 0
	var index, pid *int
	for i, c := range r.rows.columns {
		switch c {
		case "index":
			index = intOf(strings.TrimSpace(cells[i]))
		case "pid":
			pid = intOf(strings.TrimSpace(cells[i]))
		}
	}
	f.format = "nvidia-smi csv"
	for i, c := range r.rows.columns {
		number := strings.TrimSuffix(strings.TrimSpace(cells[i]), " MiB")
		switch c {
		case "memory.used", "used_memory", "used_gpu_memory":
			f.onCard(index, pid, number, "MiB")
		case "memory.free":
			f.leftOn(index, number, "MiB")
		}
	}
	return true
}

var (
	mebibytes = regexp.MustCompile(`^\s*\d{1,9}(?: MiB)?\s*$`)
	ordinal   = regexp.MustCompile(`^\s*\d{1,9}\s*$`)
)

// fits reports whether the cells are what their columns hold.
func (q *query) fits(cells []string) bool {
	for i, c := range q.columns {
		switch c {
		case "index", "pid":
			if !ordinal.MatchString(cells[i]) {
				return false
			}
		case "memory.used", "memory.free", "memory.total", "used_memory", "used_gpu_memory":
			if !mebibytes.MatchString(cells[i]) {
				return false
			}
		}
	}
	return true
}

// onCard adds what a card, or a process on it, uses.
func (f *figures) onCard(index, pid *int, number, unit string) {
	f.card(Used, index, pid, number, unit)
}

// leftOn adds what a card has left.
func (f *figures) leftOn(index *int, number, unit string) { f.card(Free, index, nil, number, unit) }

func (f *figures) card(metric Metric, index, pid *int, number, unit string) {
	factor := units[strings.ToLower(unit)]
	size, ok := Scale(plain(number), factor)
	if !ok {
		return
	}
	format := f.format
	if index != nil {
		format += " GPU " + strconv.Itoa(*index)
	}
	f.add(Reading{
		Metric: metric, Size: size, Printed: number + " " + unit, Format: format, Card: true,
		Origin: cardOf(f.place, index, pid),
	})
}

func intOf(digits string) *int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return nil
	}
	return &n
}
