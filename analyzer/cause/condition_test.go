package cause

import (
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/signatures"
)

const (
	yes = incident.Yes
	no  = incident.No
	idk = incident.Unknown
)

func TestCompareIntervals(t *testing.T) {
	tests := []struct {
		low, high float64
		op        string
		from, to  float64
		want      incident.Answer
	}{
		{1, 2, "<", 3, 4, yes}, {3, 4, "<", 1, 2, no}, {1, 3, "<", 2, 4, idk}, {3, 3, "<", 3, 3, no}, {2, 3, "<", 3, 4, idk},
		{1, 2, "<=", 2, 3, yes}, {3, 4, "<=", 1, 2, no}, {1, 3, "<=", 2, 4, idk}, {3, 3, "<=", 3, 3, yes},
		{3, 4, ">", 1, 2, yes}, {1, 2, ">", 3, 4, no}, {1, 3, ">", 2, 4, idk}, {3, 3, ">", 3, 3, no},
		{3, 4, ">=", 2, 3, yes}, {1, 2, ">=", 3, 4, no}, {1, 3, ">=", 2, 4, idk}, {3, 3, ">=", 3, 3, yes},
		{3, 3, "=", 3, 3, yes}, {1, 2, "=", 3, 4, no}, {1, 3, "=", 2, 4, idk}, {1, 3, "=", 1, 3, idk},
		{3, 3, "!=", 3, 3, no}, {1, 2, "!=", 3, 4, yes}, {1, 3, "!=", 2, 4, idk},
		{1, 2, "~", 1, 2, idk},
	}
	for _, tt := range tests {
		if got := compareIntervals(tt.low, tt.high, tt.op, tt.from, tt.to); got != tt.want {
			t.Errorf("[%g, %g] %s [%g, %g]: %s, want %s", tt.low, tt.high, tt.op, tt.from, tt.to, got, tt.want)
		}
	}
}

func size(t *testing.T, text string) incident.Fact {
	t.Helper()
	s, ok := memory.ParseSize(text)
	if !ok {
		t.Fatal(text)
	}
	return incident.Fact{Kind: incident.KindSize, Text: text, Size: s}
}

func TestCompareFacts(t *testing.T) {
	facts := map[string]incident.Fact{
		"requested":     size(t, "2.00 GiB"),
		"private_pools": size(t, "2.00 GiB"), // rounded like it: nobody knows which is larger
		"capacity":      size(t, "79.11 GiB"),
		"seq":           {Kind: incident.KindInt, Text: "15", Int: 15},
		"ran":           {Kind: incident.KindSeconds, Text: "600010", Number: 600.01},
		"op":            {Kind: incident.KindText, Text: "ALLREDUCE"},
	}
	tests := []struct {
		name string
		when signatures.When
		want incident.Answer
	}{
		{"a fact that is there", signatures.When{Fact: "requested"}, yes},
		{"an absent fact", signatures.When{Fact: "live"}, idk},
		{"an absent fact to compare", signatures.When{Fact: "live", Op: ">", Than: "requested"}, idk},
		{"an absent fact to compare with", signatures.When{Fact: "requested", Op: ">", Than: "live"}, idk},
		{"two facts", signatures.When{Fact: "requested", Op: "<", Than: "capacity"}, yes},
		{"two facts, the other way", signatures.When{Fact: "capacity", Op: "<", Than: "requested"}, no},
		{"roundings overlap", signatures.When{Fact: "private_pools", Op: ">=", Than: "requested"}, idk},
		{"a multiple", signatures.When{Fact: "requested", Op: "<", Than: "capacity", Times: 0.03}, yes},
		{"a multiple within the rounding", signatures.When{Fact: "requested", Op: ">", Than: "private_pools", Times: 0.999}, idk},
		{"a literal is exact", signatures.When{Fact: "requested", Op: ">", Than: "1.99 GiB"}, yes},
		{"a literal within the rounding", signatures.When{Fact: "requested", Op: ">=", Than: "2.00 GiB"}, idk},
		{"a number", signatures.When{Fact: "seq", Op: ">=", Than: "15"}, yes},
		{"a number that is none", signatures.When{Fact: "seq", Op: ">=", Than: "many"}, idk},
		{"seconds", signatures.When{Fact: "ran", Op: ">", Than: "600s"}, yes},
		{"a text", signatures.When{Fact: "op", Op: "=", Than: "ALLREDUCE"}, yes},
		{"another text", signatures.When{Fact: "op", Op: "!=", Than: "BROADCAST"}, yes},
		{"texts have no order", signatures.When{Fact: "op", Op: "<", Than: "BROADCAST"}, idk},
	}
	for _, tt := range tests {
		if got := compare(facts, &tt.when); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Conditions that are known to hold, not to hold, and not known.
var (
	holds   = signatures.When{Processes: "several"}
	fails   = signatures.When{Processes: "one"}
	unknown = signatures.When{Phase: "capture"} // asked of no event
)

func TestThreeValuedLogic(t *testing.T) {
	all := func(w ...signatures.When) signatures.When { return signatures.When{All: w} }
	any_ := func(w ...signatures.When) signatures.When { return signatures.When{Any: w} }
	not := func(w signatures.When) signatures.When { return signatures.When{Not: &w} }
	tests := []struct {
		name string
		when signatures.When
		want incident.Answer
	}{
		{"yes", holds, yes}, {"no", fails, no}, {"unknown", unknown, idk},
		{"not yes", not(holds), no}, {"not no", not(fails), yes}, {"not unknown", not(unknown), idk},
		{"yes and yes", all(holds, holds), yes}, {"yes and unknown", all(holds, unknown), idk},
		{"unknown and no", all(unknown, fails), no}, {"no and unknown", all(fails, unknown), no},
		{"no or no", any_(fails, fails), no}, {"no or unknown", any_(fails, unknown), idk},
		{"unknown or yes", any_(unknown, holds), yes}, {"yes or unknown", any_(holds, unknown), yes},
		{"not (unknown or no)", not(any_(unknown, fails)), idk},
		{"not (unknown and no)", not(all(unknown, fails)), yes},
		{"nothing is asked", signatures.When{}, idk},
	}
	q := &Inquiry{Run: &timeline.Run{Several: true}}
	for _, tt := range tests {
		if got := q.holds(&tt.when, nil).holds; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := q.holds(nil, nil).holds; got != yes {
		t.Errorf("no condition: %s", got)
	}
}

// An undecided ruling in front of the one that holds leaves the question open
// unless both say the same.
func TestRulings(t *testing.T) {
	tests := []struct {
		name    string
		rulings []signatures.Ruling
		want    incident.Answer
	}{
		{"none", nil, idk},
		{"the first that holds", []signatures.Ruling{{Is: "yes", When: &fails}, {Is: "no", When: &holds}, {Is: "yes"}}, no},
		{"without a condition", []signatures.Ruling{{Is: "no"}}, no},
		{"undecided before another answer", []signatures.Ruling{{Is: "yes", When: &unknown}, {Is: "no"}}, idk},
		{"undecided before the same answer", []signatures.Ruling{{Is: "no", When: &unknown}, {Is: "no"}}, no},
		{"two undecided that differ", []signatures.Ruling{{Is: "no", When: &unknown}, {Is: "yes", When: &unknown}, {Is: "no"}}, idk},
		{"undecided behind the one that holds", []signatures.Ruling{{Is: "no", When: &holds}, {Is: "yes", When: &unknown}}, no},
		{"none holds", []signatures.Ruling{{Is: "no", When: &fails}}, idk},
	}
	q := &Inquiry{Run: &timeline.Run{Several: true}}
	for _, tt := range tests {
		if got, _ := q.graphPool(&signatures.Failure{GraphPool: tt.rulings}, &message.Event{}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestFill(t *testing.T) {
	values := map[string]string{"requested": "2.00 GiB", "who": "rank 3"}
	for text, want := range map[string]string{
		"{who} asked for {requested}.": "rank 3 asked for 2.00 GiB.",
		"no value":                     "no value",
		"{live} are live":              "?", // a sentence about what is not known is not said
		"{who}{live}":                  "?",
		"a set {1, 2} is none":         "a set {1, 2} is none",
	} {
		got, ok := fill(text, values)
		if !ok {
			got = "?"
		}
		if got != want {
			t.Errorf("fill(%q) = %q, want %q", text, got, want)
		}
	}
}
