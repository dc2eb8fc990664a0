package cause

import (
	"regexp"
	"slices"
	"strconv"
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
		for _, rank := range f.suspects {
			initiators = append(initiators, incident.Origin{Rank: &rank})
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
		case e.ID == "mpi-abort": // whoever aborts had an error of its own, the failure or a victim's
		case role == incident.RoleCollateral && f != nil && (f.symmetric || f.spreading) && e.Named():
			// All fail alike: one that the launcher ended was about to print the same.
		case len(q.Run.Tasks[e]) > 1 && (role == incident.RoleCollateral || role == incident.RoleEcho && named):
			for _, rank := range q.Run.Tasks[e] {
				one := *e
				one.Origin = incident.Origin{Rank: &rank}
				add(&one, role, explain(e, why))
			}
		case role == incident.RoleCollateral && !named && e.Origin.Rank == nil && e.Named():
			// A launcher that ends all of its processes names the initiator as well.
		case role == incident.RoleCollateral && !named && e.ID == workerDied:
			// The worker that its engine found dead may be the one that failed.
		case role == incident.RoleCollateral:
			add(e, role, explain(e, why))
		case role == incident.RoleEcho && e.Origin.Rank != nil && named:
			add(e, role, explain(e, "it repeats the failure of another process"))
		case later[e]:
			add(e, incident.RoleCollateral, "it failed later than "+place(f.event))
		}
	}
	if f == nil || f.event == nil || !named || f.symmetric || f.spreading {
		return out
	}
	rest := func(ranks []int, at *message.Event) {
		for _, rank := range ranks {
			o := incident.Origin{Rank: &rank}
			if name := o.Name(); !seen[name] && !isInitiator(o) {
				seen[name] = true
				out = append(out, incident.Collateral{
					Rank: &rank, Role: incident.RoleCollateral, Signature: at.ID, Location: at.Location(), Time: at.Time,
					Why: "the whole group was ended",
				})
			}
		}
	}
	// The rest of the group was ended with it: a launcher takes the processes of
	// its host down when one fails, an engine all of its workers.
	if end := q.groupEnd(f); end != nil {
		switch {
		case end.ID == "vllm-workers-closed":
			rest(q.Run.Everyone(), end)
		case strings.HasPrefix(end.ID, "torchrun-"):
			rest(q.Run.Host, end)
		case f.origin.Rank != nil:
			rest(q.Run.Ranks, end)
		}
	}
	if n, last := q.ended(); q.Run.World > 1 && n >= q.Run.World-1 {
		rest(q.Run.Everyone(), last)
	}
	return out
}

// groupEnd returns the first line that shows that the job as a whole went down:
// something that another process than the initiator printed of its failure. That
// the failure itself was printed again does not tell, nor that a launcher saw one
// exit: it must have ended others. An engine says that it closes its workers at a
// good end as well, so that this counts behind the failure only.
func (q *Inquiry) groupEnd(f *finding) *message.Event {
	failure := q.texts(f.event.ID)
	for _, e := range q.Run.Events {
		role := q.roles[e]
		if e.ID == "vllm-workers-closed" && f.event.At.Before(e.At) {
			return e
		}
		if role != incident.RoleEcho && role != incident.RoleCollateral {
			continue
		}
		own := timeline.Same(e.At.Origin, f.event.At.Origin) || timeline.Same(e.At.Origin, f.origin)
		again := role == incident.RoleEcho && (strings.HasPrefix(e.ID, "torchrun-") || e.Relayed || failure[textOf(e)])
		if own || again || e.Weak() || fromKernel(e) {
			continue
		}
		return e
	}
	return nil
}

// texts are the texts that hold a message, by their place.
func (q *Inquiry) texts(id string) map[textPlace]bool {
	found := map[textPlace]bool{}
	for _, e := range q.Run.Events {
		if e.ID == id {
			found[textOf(e)] = true
		}
	}
	return found
}

// textPlace is where a text begins.
type textPlace struct {
	file   int
	start  int64
	column int
}

func textOf(e *message.Event) textPlace { return textPlace{e.At.File, e.At.Start, e.At.Column(0)} }

// ended returns how many processes victims and launchers tell of, and the last line
// that does. Ray prints a message that all workers print once, with their number.
//
//	(RayTrainWorker pid=50719, ip=10.77.3.14) ... NCCL error: remote process exited ... [repeated 30x across cluster]
func (q *Inquiry) ended() (int, *message.Event) {
	ranks, others := map[incident.Key]bool{}, map[incident.Key]bool{} // one process may be told of both ways
	most := 0
	var last *message.Event
	for _, e := range q.Run.Events {
		if q.roles[e] != incident.RoleCollateral || !e.Origin.Known() {
			continue
		}
		if e.Origin.Rank != nil {
			ranks[timeline.Who(e.Origin)] = true
		} else if e.Named() {
			others[timeline.Who(e.Origin)] = true
		}
		last = e
		if m := repeated.FindStringSubmatch(e.At.Text); m != nil {
			n, err := strconv.Atoi(m[1])
			if err == nil && n > most {
				most = n
			}
		}
	}
	return max(len(ranks)+max(0, most-1), len(others)), last
}

var repeated = regexp.MustCompile(`\[repeated (\d+)x across cluster\]`)

// Says is the sentence of a message's file, filled with the event's facts; ok is
// false if one of them is not known.
func Says(e *message.Event) (sentence string, ok bool) {
	if e.Message == nil {
		return "", false
	}
	return fill(e.Message.Says, values(e))
}

// explain says what happened to a victim: the message's own sentence.
func explain(e *message.Event, fallback string) string {
	if says, ok := Says(e); ok && says != "" {
		return says
	}
	return fallback
}
