package signatures

import (
	"regexp"
	"strings"
)

// The kinds of captured facts. A kind says how to read the text of a capture.
const (
	KindText    = "text"    // any text
	KindInt     = "int"     // a whole number
	KindNumber  = "number"  // a number
	KindSize    = "size"    // a number with its unit: "2.00 GiB"
	KindMillis  = "millis"  // a whole number of milliseconds
	KindSeconds = "seconds" // a number of seconds
	KindMiB     = "mib"     // a bare number that counts MiB
	KindGiB     = "gib"     // a bare number that counts GiB
)

// Macro is a word that stands for a regular expression in patterns. A named
// group that consists of one macro, as in (?P<requested>SIZE), is a fact of the
// macro's kind.
type Macro struct {
	Name string
	// Kind is empty for a macro that describes a place and not a value.
	Kind    string
	Pattern string
}

const (
	// raised is where an error's text begins: at the line's start, behind a
	// colon ("RuntimeError: "), a bracket, or the quote of a wrapper that prints
	// it again. Text quoted in prose or in a shell command begins elsewhere.
	raised = `^(?:\s|[|│└] )*|[:)\]] {1,2}|with error ['"]|\(['"]|root cause', ['"]`
	// cudaError is what stands in front of CUDA's own words for an error. PyTorch
	// prints "CUDA error", vLLM's allocator "CUDA Error", Triton names the driver.
	cudaError = `(?:CUDA|HIP)(?: driver| runtime)? [Ee]rror|Triton Error \[(?:CUDA|HIP)\]`
	// ended is where an error's text ends: at the line's end, at an escaped line
	// break or a quote, or where the text that PyTorch adds begins. A sentence
	// about the error goes on instead.
	ended = `[.,;:)\]}]*\s*$|\\n|['"]|[.,]? +(?:(?:CUDA|HIP) kernel errors|Search for|For debugging|Compile with|` +
		`Exception raised|Device-side|Traceback |at \S+:\d|\(function |\(at |\[repeated )`
)

// Macros returns the macros that patterns may use. A macro is replaced where it
// stands as a whole word; SIZED or SIGINT stay as they are.
func Macros() []Macro {
	return []Macro{
		{"SIZE", KindSize, `\d+(?:\.\d+)? ?(?:bytes|[KMGTP]i?B|[kmgt]b)`},
		{"INT", KindInt, `-?\d+`},
		{"NUM", KindNumber, `-?\d+(?:\.\d+)?`},
		{"MILLIS", KindMillis, `\d+`},
		{"SECS", KindSeconds, `\d+(?:\.\d+)?`},
		{"MIB", KindMiB, `-?\d+(?:\.\d+)?`},
		{"GIB", KindGiB, `-?\d+(?:\.\d+)?`},
		{"RAISED", "", raised},
		{"ENDED", "", ended},
		{"CUDAERROR", "", cudaError},
	}
}

// macroTable expands macros. It is built once for each load.
type macroTable struct {
	word   *regexp.Regexp // any macro, as a whole word
	group  *regexp.Regexp // a named group that consists of one macro
	byName map[string]Macro
}

func newMacroTable() *macroTable {
	t := &macroTable{byName: map[string]Macro{}}
	var names []string
	for _, m := range Macros() {
		t.byName[m.Name] = m
		names = append(names, m.Name)
	}
	anyName := strings.Join(names, "|")
	t.word = regexp.MustCompile(`\b(?:` + anyName + `)\b`)
	t.group = regexp.MustCompile(`\(\?P?<(\w+)>(` + anyName + `)\)`)
	return t
}

// compile expands the macros of a pattern and compiles it. kinds has the kind of
// every named group.
func (t *macroTable) compile(pattern string) (re *regexp.Regexp, kinds map[string]string, err error) {
	kinds = map[string]string{}
	for _, g := range t.group.FindAllStringSubmatch(pattern, -1) {
		kinds[g[1]] = t.byName[g[2]].Kind
	}
	expanded := t.word.ReplaceAllStringFunc(pattern, func(name string) string {
		return "(?:" + t.byName[name].Pattern + ")"
	})
	re, err = regexp.Compile(expanded)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range re.SubexpNames() {
		if name != "" && kinds[name] == "" {
			kinds[name] = KindText
		}
	}
	return re, kinds, nil
}
