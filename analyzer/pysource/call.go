package pysource

// call is a call of a dotted name, or of a method of some other expression.
type call struct {
	first int32 // the first name of the path
	name  int32 // the last name of the path, the one called
	open  int32 // the bracket of the arguments
	whole bool  // the path starts with a name: a.b(), not a().b()
}

// Arg is one argument of a call.
type Arg struct {
	// Name is the keyword, or empty for an argument by position.
	Name string
	// Stars is 1 for *args and 2 for **kwargs.
	Stars int
	// Offset and EndOffset are the bytes of the argument, its keyword or stars included.
	Offset, EndOffset int
	// ValueOffset is where its value starts.
	ValueOffset int

	first, last int32
	value       int32
}

func (s *Source) findCalls() {
	for _, st := range s.statements {
		if s.is(st.first, "import") || s.is(st.first, "from") {
			continue
		}
		from := st.first
		if st.opens >= 0 {
			from = s.afterPattern(st)
		}
		for i := from + 1; i < st.last; i++ {
			if c, ok := s.callAt(i, st); ok {
				s.calls = append(s.calls, c)
			}
		}
	}
}

// afterPattern is where the expressions of a header start: what looks like a
// call in the pattern of a case is none, its guard may have some.
func (s *Source) afterPattern(st statement) int32 {
	if s.is(st.first, "case") && s.blocks[st.block].kind == matchBlock {
		return s.find(st.first, st.last, "if")
	}
	return st.first
}

// callAt is the call whose arguments open at token i.
func (s *Source) callAt(i int32, st statement) (call, bool) {
	if !s.is(i, "(") || !s.isName(i-1) || i-1 < st.first {
		return call{}, false
	}
	c := call{first: i - 1, name: i - 1, open: i, whole: true}
	if st.opens >= 0 && c.name == st.first && s.blocks[st.opens].kind == matchBlock {
		return call{}, false // match (x):
	}
	for c.first > st.first && s.is(c.first-1, ".") {
		if c.first-2 < st.first || !s.isName(c.first-2) {
			c.whole = false
			break
		}
		c.first -= 2
	}
	if s.is(c.first-1, "def") || s.is(c.first-1, "class") {
		return call{}, false
	}
	return c, true
}

// path is the full name of what a call calls, or "" if it starts with no
// imported name.
func (s *Source) path(c call) string {
	if !c.whole {
		return ""
	}
	return s.resolve(c.first, c.name+1)
}

// callEnd is the offset after the closing bracket of a call, or after all that
// is left of its statement if there is none.
func (s *Source) callEnd(c call) int {
	if s.isOpening(c.open) {
		return s.tokens[s.match[c.open]].end
	}
	end := c.open
	if st := s.statementAt(c.open); st != nil {
		end = st.last - 1
	}
	return s.tokens[end].end
}

// arguments splits what stands in the brackets that open opens. trailing is the
// comma after the last argument, or -1.
func (s *Source) arguments(open int32) (args []Arg, trailing int32) {
	trailing = -1
	if !s.isOpening(open) {
		return nil, -1
	}
	last := s.match[open]
	for first := open + 1; first < last; {
		comma := s.argumentEnd(first, last)
		if comma > first {
			args = append(args, s.argument(first, comma))
			if comma == last-1 {
				trailing = comma
			}
		}
		first = comma + 1
	}
	return args, trailing
}

// argumentEnd is the comma after the argument that starts at first, or last.
// The commas of a lambda and of the targets of a comprehension are its own.
func (s *Source) argumentEnd(first, last int32) int32 {
	lambdas, targets := 0, false
	for i := first; i < last; i = s.skip(i, last) {
		switch {
		case s.is(i, "lambda"):
			lambdas++
		case s.is(i, ":") && lambdas > 0:
			lambdas--
		case s.is(i, "for"):
			targets = true
		case s.is(i, "in"):
			targets = false
		case s.is(i, ",") && lambdas == 0 && !targets:
			return i
		}
	}
	return last
}

func (s *Source) argument(first, last int32) Arg {
	arg := Arg{first: first, last: last, value: first}
	switch {
	case s.is(first, "*"):
		arg.Stars, arg.value = 1, first+1
	case s.is(first, "**"):
		arg.Stars, arg.value = 2, first+1
	case first+1 < last && s.isName(first) && s.is(first+1, "="):
		arg.Name, arg.value = s.text(first), first+2
	}
	arg.Offset, arg.EndOffset = s.tokens[first].start, s.tokens[last-1].end
	arg.ValueOffset = arg.EndOffset
	if arg.value < last {
		arg.ValueOffset = s.tokens[arg.value].start
	}
	return arg
}

// isGenerator reports whether an argument is a comprehension without brackets
// of its own, which allows no second argument.
func (s *Source) isGenerator(arg Arg) bool {
	return s.find(arg.first, arg.last, "for") < arg.last
}
