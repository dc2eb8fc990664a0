package signatures

import "strings"

// Failure is one entry of the encyclopedia: what confirms it, what refutes it,
// what fixes it and how to check the fix.
type Failure struct {
	// ID is kebab case and the name of the file: "cuda-graph-capture-oom".
	ID string `toml:"id"`
	// Title is one line; {name} stands for a fact of the initiating message.
	// A title, summary, sentence or command whose facts are absent is left out.
	Title string `toml:"title"`
	// Summary is two or three sentences about this failure in general.
	Summary string `toml:"summary"`
	// States lists the messages that state this failure, each with the
	// condition under which they do. Of two failures that fit, the one with
	// the higher Rank of its State wins.
	States []State `toml:"states"`
	// GraphPool answers whether graph memory is the cause: the first entry
	// whose condition holds. An unknown condition before it makes the answer
	// undetermined.
	GraphPool []Ruling   `toml:"graph_pool"`
	Evidence  []Evidence `toml:"evidence"`
	// Missing is the fact to ask for: the first entry whose condition holds.
	Missing []Missing `toml:"missing"`
	// Fixes are offered in order where their conditions hold; see Fix.Choice.
	Fixes      []Fix       `toml:"fix"`
	Related    []string    `toml:"related"`
	References []Reference `toml:"references"`
	// Yes are whole logs that must get this verdict; No are logs that must not.
	Yes []Log `toml:"yes"`
	No  []Log `toml:"no"`
}

// State says that a message states a failure when a condition holds.
type State struct {
	Message string `toml:"message"`
	// Growth, instead of Message: no line states a failure, but reserved memory
	// rose at one graph capture after the other while live memory did not.
	Growth bool  `toml:"growth"`
	When   *When `toml:"when"`
	Rank   int   `toml:"rank"`
	// Confidence is "confirmed", "likely" or "possible"; empty means confirmed.
	Confidence string `toml:"confidence"`
}

// Ruling is one row of a decision: "yes", "no" or "undetermined" when a
// condition holds, and why.
type Ruling struct {
	Is   string `toml:"is"`
	When *When  `toml:"when"`
	Says string `toml:"says"`
}

// Evidence is a claim that is made when its condition holds, with the line
// that made it hold.
type Evidence struct {
	Says string `toml:"says"`
	// For is "supports", "refutes" or "context".
	For  string `toml:"for"`
	When *When  `toml:"when"`
}

// Missing is a fact to ask for, and how to get it.
type Missing struct {
	ID   string `toml:"id"`
	Ask  string `toml:"ask"`
	How  string `toml:"how"`
	When *When  `toml:"when"`
}

// Fix is one remedy. {name} stands for a fact of the initiating message; a fix
// that names an absent one is not offered.
type Fix struct {
	ID    string `toml:"id"`
	Title string `toml:"title"`
	Stack string `toml:"stack"`
	// Choice groups fixes of which only the first that holds is offered: the
	// spelling for one version before the one for any, the recipe of a serving
	// engine before that of the libraries it is built on.
	Choice       string   `toml:"choice"`
	Why          string   `toml:"why"`
	Code         string   `toml:"code"`
	Language     string   `toml:"language"`
	Precondition string   `toml:"precondition"`
	Risk         string   `toml:"risk"`
	Rollback     string   `toml:"rollback"`
	When         *When    `toml:"when"`
	Verify       []Verify `toml:"verify"`
}

// Verify is a command that shows whether a fix worked.
type Verify struct {
	Command string `toml:"command"`
	// Language is "shell", the default, or "python": then the command is a line for
	// the program itself.
	Language string `toml:"language"`
	Expect   string `toml:"expect"`
}

// Reference is a page with more about the failure.
type Reference struct {
	Title string `toml:"title"`
	URL   string `toml:"url"`
}

// Log is a sample log that tests a failure.
type Log struct {
	Log string `toml:"log"`
}

// When is a condition. It is three-valued: true, false, or unknown where the
// log does not show what it asks. Exactly one of its forms is set:
//
//	{ all = [...] }  { any = [...] }  { not = {...} }
//	{ message = "id", where = "run" }                      the message was seen
//	{ message = "id", fact = "f", op = ">=", than = "g" }  a fact compares so
//	{ message = "id", same = "f", distinct = "g", at_least = 3 }
//	                                                       so many values of g with one of f
//	{ phase = "capture" }                                  the failure was inside a capture
//	{ frame = "torch/cuda/graphs.py", function = "x" }     a frame of the initiating traceback
//	{ source = "literal" }                                 a source line of that traceback contains it
//	{ text = "literal" }                                   the initiating message contains it
//	{ metric = "reserved", trend = "growing" }             a memory series of the initiator
//	{ stack = "vllm" }                                     the software that the log shows; "pytorch" is
//	                                                       a program that captures its graphs by itself
//	{ version = { of = "vllm", op = ">=", than = "0.12" } } its version, as the log prints it
//	{ processes = "one" }                                  one or several processes ran
type When struct {
	All []When `toml:"all"`
	Any []When `toml:"any"`
	Not *When  `toml:"not"`

	Message string `toml:"message"`
	// Where is "initiator" (the failing process up to its failure, the default) or "run".
	Where string `toml:"where"`
	Fact  string `toml:"fact"`
	// Op is one of < <= > >= = !=.
	Op string `toml:"op"`
	// Than names another fact of the message, or is a literal: "2.00 GiB", "0.5", "abc".
	Than string `toml:"than"`
	// Times multiplies what Than stands for; 0 means 1.
	Times float64 `toml:"times"`
	// Same, Distinct and AtLeast ask for messages of the whole run that agree in the
	// fact Same and have at least AtLeast different values of the fact Distinct.
	Same     string `toml:"same"`
	Distinct string `toml:"distinct"`
	AtLeast  int    `toml:"at_least"`

	Phase    string `toml:"phase"`
	Frame    string `toml:"frame"`
	Function string `toml:"function"`
	Source   string `toml:"source"`
	Text     string `toml:"text"`

	Metric string `toml:"metric"`
	Trend  string `toml:"trend"`

	Stack     string   `toml:"stack"`
	Version   *Version `toml:"version"`
	Processes string   `toml:"processes"`
}

// Version compares the version of a program with one that the condition states.
// A log that does not print it, or prints two that disagree, leaves it unknown;
// so does a release candidate of the very version compared with.
type Version struct {
	// Of names the program: of "vllm" it is the fact vllm_version of any message
	// of the run, of "transformer-engine" the fact transformer_engine_version.
	Of string `toml:"of"`
	// Op is one of < <= > >= = !=.
	Op   string `toml:"op"`
	Than string `toml:"than"`
}

// Fact is the name of the facts that hold the version.
func (v *Version) Fact() string { return strings.ReplaceAll(v.Of, "-", "_") + "_version" }
