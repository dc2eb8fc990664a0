package cause

import (
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/message"
	"github.com/graphtrap/graphtrap/analyzer/timeline"
	"github.com/graphtrap/graphtrap/analyzer/traceback"
)

// assignRoles gives every event its part in this incident. A signature says what
// a message can be; here what only repeats another one becomes an echo, and
// what follows from another one collateral.
func assignRoles(run *timeline.Run) map[*message.Event]incident.Role {
	roles := make(map[*message.Event]incident.Role, len(run.Events))
	for _, e := range run.Events {
		roles[e] = e.Role
	}
	strangers(run, roles)
	wrappedTexts(run.Events, roles)
	chains(run.Events, roles)
	afterSuffering(run.Events, roles)
	killedLast(run.Events, roles)
	weak(run.Events, roles)
	repeats(run.Events, roles)
	return roles
}

// setAside notes what was taken away.
func (q *Inquiry) setAside() {
	n := map[incident.Role]int{}
	var first *message.Event
	for _, e := range q.Run.Events {
		role := q.roles[e]
		if role == incident.RoleCollateral || role == incident.RoleEcho {
			n[role]++
			if first == nil {
				first = e
			}
		}
	}
	if first != nil {
		q.because(ruleConsequences, where(first), "%d messages tell of a failure elsewhere and %d repeat one; the first is at %s",
			n[incident.RoleCollateral], n[incident.RoleEcho], place(first))
	}
}

// weak: what can start a failure but rarely does (a bare exit code, error 901)
// counts only where no process tells of something better.
func weak(events []*message.Event, roles map[*message.Event]incident.Role) {
	isWeak := func(e *message.Event) bool { return e.Weak() }
	better := false
	for _, e := range events {
		better = better || roles[e] == incident.RoleInitiator && !isWeak(e)
	}
	if !better {
		return
	}
	for _, e := range events {
		if roles[e] == incident.RoleInitiator && isWeak(e) {
			roles[e] = incident.RoleEcho
		}
	}
}

// wrappedTexts: a line that re-raises another process's error holds its text.
//
//	RuntimeError: Worker failed with error 'CUDA error: out of memory', please check the stack trace above for the root cause
//
// Where the line ends a chain whose first exception is the error itself, chains
// decides instead. A rank that only a wrapper of its own speaks for failed by itself.
//
//	[2026-06-20 18:05:23 TP6] ... Exception: Capture cuda graph failed: CUDA error: invalid argument
func wrappedTexts(events []*message.Event, roles map[*message.Event]incident.Role) {
	own := map[incident.Key]bool{}
	for i, e := range events {
		if roles[e] == incident.RoleInitiator && e.Origin.Rank != nil && !wrapped(events, i) {
			own[timeline.Who(e.Origin)] = true
		}
	}
	for i, e := range events {
		if roles[e] != incident.RoleInitiator || !wrapped(events, i) {
			continue
		}
		if e.Origin.Rank != nil && !own[timeline.Who(e.Origin)] && e.At.Origin.Known() {
			own[timeline.Who(e.Origin)] = true
			continue
		}
		roles[e] = incident.RoleEcho
	}
}

// wrapped reports whether a wrapper's message stands in the same text.
func wrapped(events []*message.Event, i int) bool {
	for _, step := range []int{-1, 1} {
		for k := i + step; k >= 0 && k < len(events) && sameText(events[k], events[i]); k += step {
			if events[k].Role == incident.RoleEcho {
				return true
			}
		}
	}
	return false
}

func sameText(a, b *message.Event) bool { return textOf(a) == textOf(b) }

// chains: of chained exceptions the first known one is the failure and the rest
// is how it was handled. If the first known one only tells of another process,
// so does the chain, whatever its last line says:
//
//	RuntimeError: [.../gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:10895
//	During handling of the above exception, another exception occurred:
//	Exception: Capture cuda graph failed: ... Connection closed by peer ...
func chains(events []*message.Event, roles map[*message.Event]incident.Role) {
	byChain := map[*traceback.Traceback][]*message.Event{}
	var order []*traceback.Traceback
	for _, e := range events {
		if e.Traceback == nil || roles[e] != incident.RoleInitiator && roles[e] != incident.RoleCollateral {
			continue
		}
		if e.Outside() { // what the scheduler adds behind it is no part of it
			continue
		}
		root := e.Traceback.Root()
		if byChain[root] == nil {
			order = append(order, root)
		}
		byChain[root] = append(byChain[root], e)
	}
	for _, root := range order {
		chain := byChain[root]
		first := chain[0]
		for _, e := range chain { // the first that is known at all
			if e.ID != message.PythonException {
				first = e
				break
			}
		}
		rest := incident.RoleEcho
		if roles[first] == incident.RoleCollateral {
			rest = incident.RoleCollateral
		}
		for _, e := range chain {
			if e != first && roles[e] == incident.RoleInitiator {
				roles[e] = rest
			}
		}
	}
}

// afterSuffering: an exception that no signature knows, raised by a process that
// already told of another one's failure, is how it died of it.
func afterSuffering(events []*message.Event, roles map[*message.Event]incident.Role) {
	suffered := map[incident.Key]bool{}
	for _, e := range events {
		switch {
		case roles[e] == incident.RoleCollateral && e.Origin.Known():
			suffered[timeline.Who(e.Origin)] = true
		case roles[e] == incident.RoleInitiator && e.ID == message.PythonException && suffered[timeline.Who(e.Origin)]:
			roles[e] = incident.RoleCollateral
		}
	}
}

// killedLast: what a shell says of its own command, behind victims, is how the job
// was cleared away: the command is the launcher or the server.
//
//	[2025-08-19 23:41:12] Received sigquit from a child process. It usually means the child failed.
//	Killed
func killedLast(events []*message.Event, roles map[*message.Event]incident.Role) {
	suffered := map[int]bool{} // by file
	for _, e := range events {
		switch {
		case roles[e] == incident.RoleCollateral:
			suffered[e.At.File] = true
		case e.ID == "shell-killed" && roles[e] == incident.RoleInitiator && suffered[e.At.File]:
			roles[e] = incident.RoleCollateral
		}
	}
}

// repeats: the same failure printed again by its own process, or later by one
// that has no rank (a parent, a launcher, an API server), is an echo. Where the
// process first only names its failure and prints the traceback soon after, the
// traceback is the failure and the line above it the echo.
func repeats(events []*message.Event, roles map[*message.Event]incident.Role) {
	type failure struct {
		who incident.Key
		id  string
	}
	own, ranked := map[failure]*message.Event{}, map[string]bool{} // ranked: by a process with a rank
	for _, e := range events {
		if roles[e] != incident.RoleInitiator {
			continue
		}
		who, id := timeline.Who(e.Origin), e.ID
		if id == message.PythonException {
			id = anyFailure
		}
		if first := own[failure{who, id}]; first != nil {
			if fuller(first, e) {
				roles[first] = incident.RoleEcho
				own[failure{who, id}] = e
				continue
			}
			roles[e] = incident.RoleEcho
			continue
		}
		if e.Origin.Rank == nil && ranked[id] {
			roles[e] = incident.RoleEcho
			continue
		}
		for _, id := range []string{e.ID, anyFailure} {
			own[failure{who, id}] = e
			ranked[id] = ranked[id] || e.Origin.Rank != nil
		}
	}
}

// accountReach is how many lines behind the line that names a failure its traceback
// may end.
const accountReach = 200

// fuller reports whether e is the traceback of what first only named.
func fuller(first, e *message.Event) bool {
	return first.ID == e.ID && first.Traceback == nil && e.Traceback != nil && e.Traceback.Complete() &&
		first.At.File == e.At.File && e.At.Number-first.At.Number <= accountReach
}

// anyFailure stands for the ids of all messages: an exception that no signature
// knows repeats whatever its process told before.
const anyFailure = ""
