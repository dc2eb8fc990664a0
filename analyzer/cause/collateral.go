package cause

import (
	"slices"
	"strings"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
)

// collateral lists who only suffered, one entry for each process, in the order
// of the log.
func (q *Inquiry) collateral(f *finding) []incident.Collateral {
	initiators := []incident.Origin{}
	why := "it suffered from a failure elsewhere"
	if f != nil {
		if f.event != nil {
			initiators = append(initiators, f.event.Origin)
		}
		initiators = append(initiators, f.origin)
		for _, t := range f.tied {
			initiators = append(initiators, t.Origin)
		}
	}
	isInitiator := func(o incident.Origin) bool {
		return slices.ContainsFunc(initiators, func(i incident.Origin) bool { return i.Known() && timeline.Same(i, o) })
	}
	var out []incident.Collateral
	seen := map[string]bool{}
	add := func(e *message.Event, role incident.Role, why string) {
		key := e.Origin.Name()
		if key == "" || seen[key] || isInitiator(e.Origin) {
			return
		}
		seen[key] = true
		out = append(out, incident.Collateral{
			Rank: e.Origin.Rank, Role: role, Signature: e.ID, Location: e.Location(), Time: e.Time, Why: why,
		})
	}
	// Where the initiator's rank is not known, a rank whose failure is only told
	// of again may be the initiator.
	named := f != nil && (f.origin.Rank != nil || f.event != nil && f.event.Origin.Rank != nil)
	later := map[*message.Event]bool{}
	if f != nil {
		for _, e := range f.later {
			later[e] = true
		}
	}
	for _, e := range q.Run.Events {
		switch role := q.roles[e]; {
		case e.Weak(): // it tells of its own process
		case role == incident.RoleCollateral && len(q.Run.Tasks[e]) > 1:
			for _, rank := range q.Run.Tasks[e] {
				one := *e
				one.Origin = incident.Origin{Rank: &rank}
				add(&one, role, explain(e, why))
			}
		case role == incident.RoleCollateral && !named && e.Origin.Rank == nil && e.Named():
			// A launcher that ends all of its processes names the initiator as well.
		case role == incident.RoleCollateral:
			add(e, role, explain(e, why))
		case role == incident.RoleEcho && e.Origin.Rank != nil && named:
			add(e, role, explain(e, "it repeats the failure of another process"))
		case later[e]:
			add(e, incident.RoleCollateral, "it failed later than "+place(f.event))
		}
	}
	if f == nil || f.event == nil || !named {
		return out
	}
	// The rest of the group was ended with it: a launcher takes the processes of
	// its host down when one fails, an engine all of its workers.
	if end := q.groupEnd(f); end != nil {
		group := q.Run.Ranks
		if strings.HasPrefix(end.ID, "torchrun-") {
			group = q.Run.Host
		} else if f.origin.Rank == nil {
			group = nil
		}
		for _, rank := range group {
			o := incident.Origin{Rank: &rank}
			if name := o.Name(); !seen[name] && !isInitiator(o) {
				seen[name] = true
				out = append(out, incident.Collateral{
					Rank: &rank, Role: incident.RoleCollateral, Signature: end.ID, Location: end.Location(), Time: end.Time,
					Why: "the whole group was ended",
				})
			}
		}
	}
	return out
}

// groupEnd returns the first line that shows that the job as a whole went down:
// something that another process than the initiator printed of its failure.
func (q *Inquiry) groupEnd(f *finding) *message.Event {
	for _, e := range q.Run.Events {
		if role := q.roles[e]; (role == incident.RoleEcho || role == incident.RoleCollateral) && !timeline.Same(e.At.Origin, f.event.At.Origin) {
			return e
		}
	}
	return nil
}

// explain says what happened to a victim: the message's own sentence.
func explain(e *message.Event, fallback string) string {
	if e.Message != nil {
		if says, ok := fill(e.Message.Says, values(e)); ok && says != "" {
			return says
		}
	}
	return fallback
}
