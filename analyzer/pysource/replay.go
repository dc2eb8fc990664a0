package pysource

import "sort"

// threadCalls are the last names of calls that run a function somewhere else.
var threadCalls = map[string]bool{
	"Thread": true, "Timer": true, "submit": true, "map": true, "to_thread": true,
	"run_in_executor": true, "start_new_thread": true, "apply_async": true,
}

// maxReplays bounds how many replays are told apart. No file has so many; one
// that has is not judged safe.
const maxReplays = 1000

// unsafeReplay is the offset of a replay that may run at the same time as
// another one, or -1: on a stream that differs from replay to replay, or on a
// thread. It looks at the whole file and cannot see what callers do. capturing
// is the function that captures.
func (s *Source) unsafeReplay(capturing int32) int {
	replays := s.replays()
	if len(replays) == 0 {
		return -1
	}
	if len(replays) > maxReplays {
		return s.tokens[replays[maxReplays]].start
	}
	if i := s.severalStreams(replays, capturing); i >= 0 {
		return s.tokens[i].start
	}
	return s.threaded(replays)
}

// replays are the tokens of every .replay in the file.
func (s *Source) replays() []int32 {
	var found []int32
	for i := range s.tokens {
		if s.is(int32(i), "replay") && s.is(int32(i)-1, ".") {
			found = append(found, int32(i))
		}
	}
	return found
}

// severalStreams is the first replay that is seen to use another stream than
// one before it, or a stream that may differ from turn to turn or call to call.
func (s *Source) severalStreams(replays []int32, capturing int32) int32 {
	seen := ""
	for n, i := range replays {
		first, last := s.streamAround(i)
		stream := s.joined(first, last)
		if n > 0 && stream != seen {
			return i
		}
		seen = stream
		if last > first && (s.makesStream(first, last) || s.streamVaries(i, first, last, capturing)) {
			return i
		}
	}
	return -1
}

// streamVaries reports whether the stream of a replay uses a name that a loop
// around the replay binds, or a parameter of its function. A parameter of the
// function that also captures is one stream for all graphs.
func (s *Source) streamVaries(replay, first, last, capturing int32) bool {
	if root := s.rootLoop(replay); root >= 0 && s.mentions(first, last, s.newShared(root).bound) {
		return true
	}
	parameters := map[string]bool{}
	function := s.blocks[s.blockOf[replay]].function
	if f := s.blocks[function]; f.kind == functionBlock && function != capturing {
		if st := s.statementAt(f.colon); st != nil {
			s.eachParameter(*st, func(name int32) { parameters[s.text(name)] = true })
		}
	}
	delete(parameters, "self")
	delete(parameters, "cls")
	return s.mentions(first, last, parameters)
}

// streamAround is the argument of the innermost stream context around token i
// in its function, or of the last set_stream before it; empty if there is none.
func (s *Source) streamAround(i int32) (first, last int32) {
	for b := s.blockOf[i]; b >= 0; b = s.blocks[b].parent {
		if s.blocks[b].kind == functionBlock {
			break
		}
		if s.blocks[b].kind != withBlock {
			continue
		}
		header, colon := s.lines[s.blocks[b].line].first, s.blocks[b].colon
		for _, c := range s.callsIn(header, colon) {
			if (s.is(c.name, "stream") || s.is(c.name, "StreamContext")) && s.isOpening(c.open) {
				return c.open + 1, s.match[c.open]
			}
		}
		if s.makesStream(header, colon) || s.namesStream(header, colon) {
			return header + 1, colon // with s: a stream is a context itself
		}
	}
	function := s.blocks[s.blockOf[i]].function
	for _, c := range s.callsIn(0, i) {
		if s.is(c.name, "set_stream") && s.isOpening(c.open) && s.blocks[s.blockOf[c.name]].function == function {
			first, last = c.open+1, s.match[c.open]
		}
	}
	return first, last
}

// findStreams collects the names that hold streams, as far as the source shows:
// assigned from Stream(), or taken from such a name by a loop.
func (s *Source) findStreams() {
	for i := range s.tokens {
		if i := int32(i); s.is(i, "Stream") && s.is(i+1, "(") {
			s.streams = map[string]bool{}
			break
		}
	}
	if s.streams == nil {
		return
	}
	for _, st := range s.statements {
		if st.opens >= 0 && s.blocks[st.opens].kind == loopBlock && s.namesStream(st.first, st.last) {
			s.eachBinding(st, func(name int32) { s.streams[s.text(name)] = true })
		}
		if equals := s.find(st.first, st.last, "="); s.makesStream(equals, st.last) && s.isName(equals-1) {
			s.streams[s.text(equals-1)] = true // also the last name of self.side
		}
	}
}

// namesStream reports whether the tokens mention a name that holds a stream.
func (s *Source) namesStream(first, last int32) bool {
	for i := first; i < last; i++ {
		if s.tokens[i].kind == nameToken && s.streams[s.text(i)] {
			return true
		}
	}
	return false
}

// callsIn are the calls between two tokens.
func (s *Source) callsIn(first, last int32) []call {
	from := sort.Search(len(s.calls), func(k int) bool { return s.calls[k].name >= first })
	to := sort.Search(len(s.calls), func(k int) bool { return s.calls[k].name >= last })
	return s.calls[from:max(from, to)]
}

// threaded is the offset of a call that runs a replay on a thread, or -1. A
// function replays if it says so or calls, by name, one that does.
func (s *Source) threaded(replays []int32) int {
	replaying := map[string]bool{"replay": true}
	for _, i := range replays {
		if name := s.functionOf(i); name != "" {
			replaying[name] = true
		}
	}
	s.addCallers(replaying)
	for _, c := range s.calls {
		if !threadCalls[s.text(c.name)] || !s.isOpening(c.open) || s.is(c.name, "map") && c.first == c.name && c.whole {
			continue
		}
		for i := c.open + 1; i < s.match[c.open]; i++ {
			if s.isName(i) && replaying[s.text(i)] {
				return s.tokens[c.name].start
			}
		}
	}
	return s.threadClass(replaying)
}

// addCallers adds the functions that call, by name and through others, one of
// the functions.
func (s *Source) addCallers(functions map[string]bool) {
	callers := map[string][]string{}
	for _, c := range s.calls {
		if name := s.functionOf(c.name); name != "" {
			callers[s.text(c.name)] = append(callers[s.text(c.name)], name)
		}
	}
	var open []string
	for name := range functions {
		open = append(open, name)
	}
	for len(open) > 0 {
		callee := open[len(open)-1]
		open = open[:len(open)-1]
		for _, name := range callers[callee] {
			if !functions[name] {
				functions[name] = true
				open = append(open, name)
			}
		}
	}
}

// threadClass is the offset of a subclass of Thread whose run replays, or -1.
func (s *Source) threadClass(replaying map[string]bool) int {
	if !replaying["run"] {
		return -1
	}
	for _, b := range s.blocks {
		if b.kind != classBlock {
			continue
		}
		for i := s.lines[b.line].first + 2; i < b.colon; i++ {
			if s.is(i, "Thread") {
				return s.tokens[i].start
			}
		}
	}
	return -1
}

// functionOf is the name of the function that runs token i, or "".
func (s *Source) functionOf(i int32) string {
	if f := s.blocks[s.blocks[s.blockOf[i]].function]; f.kind == functionBlock {
		return s.functionName(f)
	}
	return ""
}
