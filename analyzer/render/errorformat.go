package render

import (
	"bufio"
	"fmt"
	"io"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// ErrorFormat prints the answer as compilers print their errors, for editors that
// go from one to the next: FILE:LINE:COLUMN: KIND: TEXT. The first line is the
// answer, an error if it is decided and a warning if it is not; what shows it and
// who only suffered are notes. What has no place in a file starts with the
// program's name.
func ErrorFormat(w io.Writer, r *incident.Report) error {
	out := bufio.NewWriter(w)
	v := &r.Verdict
	kind := "error"
	switch v.Status {
	case incident.NoFailureFound:
		kind = "note"
	case incident.Undetermined:
		kind = "warning"
	}
	title := upper(v.Title)
	if i := v.Initiator; i != nil {
		entry(out, placed(i), kind, title)
	} else {
		entry(out, nil, kind, title)
	}
	for i := range v.CoInitiators {
		other := &v.CoInitiators[i]
		entry(out, placed(other), kind, whose(other.Rank)+"failed at the same time")
	}
	for i := range v.Evidence {
		e := &v.Evidence[i]
		entry(out, &e.Location, "note", sign(e.For)+" "+e.Says)
	}
	for i := range v.Collateral {
		c := &v.Collateral[i]
		entry(out, &c.Location, "note", whose(c.Rank)+string(c.Role)+": "+c.Why)
	}
	if m := v.MissingFact; m != nil {
		entry(out, nil, "note", "the one fact needed: "+m.Fact+": "+m.How)
	}
	if len(v.Fixes) > 0 {
		entry(out, nil, "note", "fix: "+v.Fixes[0].Title)
	}
	return out.Flush()
}

// placed is where an initiator's failure stands: the line that states it, else its
// block; nil if neither is known.
func placed(i *incident.Initiator) *incident.Location {
	if i.StatedAt != nil {
		return i.StatedAt
	}
	return i.Location
}

func whose(rank *int) string {
	if rank == nil {
		return ""
	}
	return fmt.Sprintf("rank %d: ", *rank)
}

// entry prints one line; at may be nil. The writer keeps its error to the end.
func entry(w *bufio.Writer, at *incident.Location, kind, text string) {
	if at == nil || at.Line < 1 {
		fmt.Fprintf(w, "graphtrap: %s: %s\n", kind, printable(flat(text)))
		return
	}
	fmt.Fprintf(w, "%s:%d:%d: %s: %s\n", printable(at.File), at.Line, max(at.Column, 1), kind, printable(flat(text)))
}
