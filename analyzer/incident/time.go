package incident

import "time"

// Clock is the kind of clock that a printed time was read from. Times of
// different kinds do not compare.
type Clock string

// The kinds of clocks.
const (
	Wall         Clock = "wall"
	Monotonic    Clock = "monotonic"
	ClockUnknown Clock = "unknown"
)

// Time is a printed time, kept as it was printed. Many logs print no year and
// hardly any print a zone, so At is a best reading, not a moment in the world:
// compare times of one log only.
type Time struct {
	Text  string `json:"text"`
	Clock Clock  `json:"clock"`
	// Granularity is the size of the last digit that counts, in seconds.
	Granularity float64    `json:"granularity"`
	At          *time.Time `json:"at"`
}

// Elapsed is how long after the initiating event something was printed.
type Elapsed struct {
	// Seconds are negative for what was printed before it.
	Seconds float64
	// Within is by how many seconds that may be wrong: the last digit that the two
	// times print, or more where Around is set.
	Within float64
	// Around is set where the initiating line prints no time, so that the times
	// printed right before and behind it stand for it.
	Around bool
}
