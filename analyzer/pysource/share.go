package pysource

import (
	"bytes"
	"slices"
	"strings"
)

// SharePool makes the edit that lets the captures of one loop share one memory
// pool: it makes a handle before the outermost loop that holds the capture and
// passes it to every plain capture of that loop. line is where a traceback
// frame points, from 1: at the capture, into the body of its with statement, or
// into the loop or function that holds no other capture. Line 0 stands for the
// only loop of the file that captures.
//
// The error is a [Refusal]. Whoever offers the edit must still say that it is
// safe only if the graphs are replayed one at a time and their outputs are used
// before the next replay: that cannot be read off the source.
func SharePool(src []byte, line int) (Edit, error) {
	return Scan(src).SharePool(line)
}

// SharePool is the function of that name on a source that was scanned before.
func (s *Source) SharePool(line int) (Edit, error) {
	if s.Problem != "" {
		return Edit{}, Refusal{Reason: ReasonUnreadable, Line: s.ProblemLine, Detail: s.Problem}
	}
	site, err := s.locate(line)
	if err != nil {
		return Edit{}, err
	}
	if err := s.checkArguments(site); err != nil {
		return Edit{}, err
	}
	if err := s.checkLoop(site); err != nil {
		return Edit{}, err
	}
	shared := s.newShared(s.rootLoop(site.call.name))
	if err := shared.check(site); err != nil {
		return Edit{}, err
	}
	if place := s.unsafeReplay(s.loops[shared.root].function); place >= 0 {
		return Edit{}, Refusal{Reason: ReasonReplayConcurrent, Line: s.lineOf(place)}
	}
	offset, indent, ok := s.placeBefore(shared.root)
	if !ok {
		return Edit{}, Refusal{Reason: ReasonNoRoom, Line: site.Loop.Line}
	}
	handle := s.handleCall(site, shared.root)
	if handle == "" {
		return Edit{}, Refusal{Reason: ReasonNoTorch, Line: site.Loop.Line}
	}
	edit := Edit{Site: site, LoopLine: site.Loop.Line, SiteLine: site.Line, Variable: s.freeName()}
	edit.Changes = append(edit.Changes, insert(offset, indent+edit.Variable+" = "+handle+s.newlineAfter(site.Loop.Offset)))
	for _, other := range s.Sites {
		if other.Pool == PoolMissing && s.rootLoop(other.call.name) == shared.root && shared.check(other) == nil {
			edit.Changes = append(edit.Changes, s.poolArgument(other, edit.Variable))
		}
	}
	// A capture among the arguments of another one is changed before it ends.
	slices.SortStableFunc(edit.Changes, func(a, b Change) int { return a.Offset - b.Offset })
	return edit, nil
}

func insert(offset int, text string) Change { return Change{offset, offset, text} }

// checkArguments refuses a capture whose pool is given or cannot be told.
func (s *Source) checkArguments(site Site) error {
	switch site.Pool {
	case PoolGiven:
		if s.mintedPerTurn(site) {
			return Refusal{Reason: ReasonHandlePerTurn, Line: site.Line}
		}
		return Refusal{Reason: ReasonPoolGiven, Line: site.Line}
	case PoolNone:
		return Refusal{Reason: ReasonPoolNone, Line: site.Line}
	case PoolUnsure:
		return Refusal{Reason: ReasonArgumentsUnsure, Line: site.Line}
	}
	return nil
}

// checkLoop refuses a capture that no loop of its function repeats, and loops
// that a line cannot be put before.
func (s *Source) checkLoop(site Site) error {
	if site.Loop == nil {
		if line := s.callerLoop(site); line > 0 {
			return Refusal{Reason: ReasonLoopInCaller, Line: line}
		}
		return Refusal{Reason: ReasonNotInLoop, Line: site.Line}
	}
	if site.Loop.OneLine {
		return Refusal{Reason: ReasonOneLine, Line: site.Loop.Line}
	}
	scope := s.blocks[s.blockOf[site.call.name]].scope
	if s.blocks[scope].kind == classBlock {
		return Refusal{Reason: ReasonClassBody, Line: site.Line}
	}
	return nil
}

// callerLoop is the line of a loop outside the function that repeats the
// capture: around a call of the function, or around its def. 0 if none is seen.
func (s *Source) callerLoop(site Site) int {
	function := s.blocks[s.blockOf[site.call.name]].function
	if s.blocks[function].kind != functionBlock {
		return 0
	}
	for _, c := range s.calls {
		if s.loopOf[c.name] >= 0 && s.text(c.name) == site.Function {
			return s.lineOf(s.tokens[c.name].start)
		}
	}
	if around := s.blocks[s.blocks[function].parent].loop; around >= 0 {
		return s.exportLoop(around).Line
	}
	return 0
}

// placeBefore is where a line can be put before a loop: above its decorators
// and above the comment that belongs to it.
func (s *Source) placeBefore(root int32) (offset int, indent string, ok bool) {
	index := s.loops[root].line
	line := s.lines[index]
	st := s.statementAt(line.first)
	if s.loops[root].block < 0 {
		st = s.statementAt(s.loops[root].open)
	}
	if st == nil || st.first != line.first || s.isClause(*st) {
		return 0, "", false
	}
	block := s.blockOf[line.first]
	if s.loops[root].block >= 0 {
		block = s.blocks[s.loops[root].block].parent
	}
	for index > 0 && s.is(s.lines[index-1].first, "@") && s.blockOf[s.lines[index-1].first] == block {
		index--
	}
	line = s.lines[index]
	indent = string(s.src[line.start:line.indentEnd])
	return s.aboveComments(index, indent), indent, true
}

// aboveComments is the start of the comment lines that stand directly above a
// logical line at its indentation, or of the line itself.
func (s *Source) aboveComments(index int32, indent string) int {
	end := 0 // the last line of what comes before
	if index > 0 {
		end = s.lineOf(s.tokens[s.lines[index-1].last-1].end)
	}
	line := s.lineOf(s.lines[index].start)
	for line-1 > end {
		start := s.lineStarts[line-2]
		text := s.src[start:lineEnd(s.src, start)]
		comment, found := bytes.CutPrefix(text, []byte(indent))
		if !found || !bytes.HasPrefix(comment, []byte("#")) || isMarker(comment, line-1) {
			break
		}
		line--
	}
	return max(s.lineStarts[line-1], s.firstOffset())
}

// isMarker reports whether a comment has its meaning from where it stands.
func isMarker(comment []byte, line int) bool {
	text := strings.TrimSpace(string(comment[1:]))
	return strings.HasPrefix(text, "!") || strings.HasPrefix(text, "%%") || strings.HasPrefix(text, "In[") ||
		line <= 2 && strings.Contains(text, "coding")
}

// firstOffset is where text can start: after a byte order mark.
func (s *Source) firstOffset() int {
	if bytes.HasPrefix(s.src, []byte(byteOrderMark)) {
		return len(byteOrderMark)
	}
	return 0
}

// newlineAfter is the line break that ends the line of offset.
func (s *Source) newlineAfter(offset int) string {
	end := lineEnd(s.src, offset)
	if end == len(s.src) {
		return s.Newline
	}
	return string(s.src[end:skipLineBreak(s.src, end)])
}

// poolArgument adds the handle to the arguments of a call, in their style.
func (s *Source) poolArgument(site Site, variable string) Change {
	argument := "pool=" + variable
	if len(site.Args) == 0 {
		return insert(s.tokens[site.call.open].end, argument)
	}
	last := site.Args[len(site.Args)-1]
	if site.trailing < 0 {
		return insert(last.EndOffset, ", "+argument)
	}
	comma := s.tokens[site.trailing]
	end := lineEnd(s.src, comma.end)
	start := s.lineStart(last.Offset)
	indent := s.src[start:last.Offset]
	if end < s.tokens[s.match[site.call.open]].start && len(bytes.TrimLeft(indent, " \t")) == 0 {
		// One argument a line: keep it so, below the comment of the last one.
		return insert(end, s.newlineAfter(end)+string(indent)+argument+",")
	}
	return insert(comma.end, " "+argument+",")
}
