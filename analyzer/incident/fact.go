package incident

import "encoding/json"

// Kind is the type of a fact's value.
type Kind string

// The kinds of facts.
const (
	KindText    Kind = "text"
	KindInt     Kind = "int"
	KindNumber  Kind = "number"
	KindSize    Kind = "size"
	KindSeconds Kind = "seconds"
)

// Fact is a named, typed value that a message printed. Which field holds the
// value depends on Kind; Text is always what was printed.
type Fact struct {
	Kind Kind
	Text string
	// Int is set for KindInt.
	Int int64
	// Number is set for KindNumber, and for KindSeconds in seconds.
	Number float64
	// Size is set for KindSize.
	Size Size
}

// Size is a printed size in bytes. "2.50 GiB" stands for every value from Low
// to High that rounds to it.
type Size struct {
	Bytes int64 `json:"bytes"`
	Low   int64 `json:"low"`
	High  int64 `json:"high"`
}

// MarshalJSON prints the value in the form that its kind has in the report: a
// size as an object of bytes, the other kinds as themselves.
func (f Fact) MarshalJSON() ([]byte, error) {
	switch f.Kind {
	case KindSize:
		return json.Marshal(f.Size)
	case KindInt:
		return json.Marshal(f.Int)
	case KindNumber, KindSeconds:
		return json.Marshal(f.Number)
	}
	return json.Marshal(f.Text)
}
