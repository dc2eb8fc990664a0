package signatures

// Role is the part that a message can play in an incident, before the order of
// events is known.
type Role string

// The roles that a message file may give. A message that can start a failure
// is an initiator; whether it did is decided from the order.
const (
	Initiator  Role = "initiator"
	Collateral Role = "collateral"
	Echo       Role = "echo"
	Symptom    Role = "symptom"
	Advice     Role = "advice"
	Context    Role = "context"
)

// Message describes one line, or a wrapped line, that a known program prints.
type Message struct {
	// ID is kebab case and unique over all message files: "torch-oom".
	ID string `toml:"id"`
	// Program is the name of the file it stands in: "pytorch".
	Program string `toml:"-"`
	// Says tells in one sentence what the line means, for a reader who points
	// at it. {name} stands for a captured fact.
	Says string `toml:"says"`
	Role Role   `toml:"role"`
	// Anchors are plain texts, at least one of which stands in every such line.
	Anchors []string `toml:"anchors"`
	// Pattern must match the line's text. It is RE2 with the macros of
	// [Macros]; a named group that consists of one macro is a fact of its kind,
	// any other named group is a text. Empty: the anchor is enough.
	Pattern string `toml:"pattern"`
	// Unless is a pattern that must not match, for a line that looks alike and
	// means something else.
	Unless string `toml:"unless"`
	// Facts are further patterns that add facts where they match.
	Facts []string `toml:"facts"`
	// Derived names the sizes that the analyzer computes from the facts of this
	// message, so that conditions and sentences may use them too.
	Derived []string `toml:"derived"`
	// Wraps is how many following lines of the same process may be the rest of
	// this one, because reports wrap long lines.
	Wraps int `toml:"wraps"`
	// Async marks an error that is reported later than it happened, so that
	// the frame that prints it may be innocent.
	Async bool `toml:"async"`
	// About says whose message it is: empty for the process that printed it;
	// "named" for the process that its facts rank, local_rank or pid name (an
	// agent tells of its worker); "next" for the process that they name, whose
	// traceback follows (a parent prints it again); "map" where those facts say
	// who the printer is; "absent" where its rank is of one that did not come.
	About string `toml:"about"`
	// Capture says what the line tells of graph captures: "begin", "progress"
	// (with the facts progress_done and progress_total), "end", or "off" where
	// it says that graphs are not used.
	Capture string `toml:"capture"`
	// Weak marks an initiator that counts only where nothing better is known: a
	// bare exit code, an error that says that another one came before.
	Weak bool `toml:"weak"`
	// Vague marks an error whose text does not tell whether memory was lacking: a
	// library's bare status, a process that is gone.
	Vague bool `toml:"vague"`
	// Outside marks what the kernel, the driver or the scheduler reports of a
	// process or its card: it counts before what processes print.
	Outside bool `toml:"outside"`
	// Source says where the text was read.
	Source string `toml:"source"`
	// Yes are lines that must match; No are lines that must stay silent.
	Yes []Sample `toml:"yes"`
	No  []Sample `toml:"no"`
}

// Tells returns the names of the facts that Says puts into its sentence.
func (m *Message) Tells() []string {
	var names []string
	for _, p := range placeholder.FindAllStringSubmatch(m.Says, -1) {
		names = append(names, p[1])
	}
	return names
}

// Sample is a line that tests a message: with the facts it must give, as they
// are printed.
type Sample struct {
	Line  string            `toml:"line"`
	Facts map[string]string `toml:"facts"`
}
