package incident

// Line is what is known of one line of a file, or of one of several records on it.
type Line struct {
	// Origin is who printed it, completed by what the whole log says of who is who.
	Origin Origin
	// RankSaid is set where the line itself names its rank.
	RankSaid bool
	// Time is the printed time; nil if the line has none.
	Time *Time
	// Since is how long after the initiating event the line was printed; nil where
	// one of the two has no time, or their clocks do not compare.
	Since *Elapsed
	// Text covers the line without its prefixes.
	Text Location
	// Who and When are where the prefixes name the printer and the time.
	Who, When Stretch
	// Messages are what known programs say on it, the first one first.
	Messages []Message
}

// Stretch is a part of a file, in bytes from its start; empty where Offset and
// EndOffset are equal.
type Stretch struct{ Offset, EndOffset int64 }

// Message is a known message on a line.
type Message struct {
	ID string
	// Role is the part that the message plays in this incident.
	Role Role
	// Says tells in one sentence what the line means; empty where the line lacks a
	// fact that the sentence needs.
	Says  string
	Facts map[string]Fact
	// About is the process that the message is about, where that is another than the
	// one that printed it and the log tells.
	About Origin
	// Told are the names of the facts that Says tells.
	Told []string
	// Means says in words what a code among the facts means, by the fact's name.
	Means map[string]string
	// Capture is what the message tells of graph captures: "begin", "progress",
	// "end", "off", or nothing.
	Capture string
	// Source says where the message's text was read: a file of a program.
	Source string
}
