package pysource

import "strings"

// eachBinding calls visit with every name token that a statement binds in the
// scope it stands in: assignment and loop targets, "as" names, walrus targets,
// the name of a function or class. Imports are read by [Source.eachImport].
// Names bound by a case pattern are not seen.
func (s *Source) eachBinding(st statement, visit func(name int32)) {
	first := st.first
	if s.is(first, "async") {
		first++
	}
	for i := st.first; i+1 < st.last; i++ {
		if s.isName(i) && s.is(i+1, ":=") {
			visit(i)
		}
	}
	if st.opens >= 0 {
		switch s.text(first) {
		case "for":
			s.eachTarget(first+1, s.find(first+1, st.last, "in"), visit)
		case "with", "except":
			s.eachAsTarget(first+1, st.last, visit)
		case "def", "class":
			if s.isName(first + 1) {
				visit(first + 1)
			}
		}
		return
	}
	switch s.text(first) {
	case "import", "from", "global", "nonlocal", "del":
		return
	}
	s.eachAssigned(st, visit)
}

// eachAssigned visits what stands left of =, of an augmented = and of the
// colon of an annotation.
func (s *Source) eachAssigned(st statement, visit func(name int32)) {
	target := st.first
	for i := st.first; i < st.last; i = s.skip(i, st.last) {
		if target == st.first && s.is(i, ":") {
			s.eachTarget(target, i, visit)
			target = st.last // what follows up to = is the type
			continue
		}
		if s.is(i, "lambda") {
			return // a colon or = from here on may be the lambda's
		}
		if !s.isAssignment(i) {
			continue
		}
		if target < i {
			s.eachTarget(target, i, visit)
		}
		target = i + 1
	}
}

// isAssignment reports whether token i is = or an augmented =.
func (s *Source) isAssignment(i int32) bool {
	t := s.tokens[i]
	if t.kind != opToken || s.src[t.end-1] != '=' {
		return false
	}
	switch string(s.src[t.start:t.end]) {
	case "==", "!=", "<=", ">=", ":=":
		return false
	}
	return true
}

// eachAsTarget visits the targets that follow "as" in a with or except header.
func (s *Source) eachAsTarget(first, last int32, visit func(name int32)) {
	for i := first; i < last; i++ {
		if !s.is(i, "as") {
			continue
		}
		end := i + 1
		for end < last && !s.is(end, ",") && !s.is(end, ":") && !s.is(end, ")") {
			end = s.skip(end, last)
		}
		s.eachTarget(i+1, end, visit)
	}
}

// eachTarget visits the names that an assignment to the tokens from first to
// last binds: in a.b, c[d] = ... that is none.
func (s *Source) eachTarget(first, last int32, visit func(name int32)) {
	for i := first; i < last; {
		if s.isBracket(i) && i > first && s.endsOperand(i-1) {
			i = s.skip(i, last) // a subscript or a call
			continue
		}
		if s.isName(i) && !s.is(i-1, ".") && (i+1 >= last || !s.isTrailer(i+1)) {
			visit(i)
		}
		i++
	}
}

// endsOperand reports whether a bracket after token i continues it.
func (s *Source) endsOperand(i int32) bool {
	return s.isName(i) || s.tokens[i].kind == textToken || s.is(i, ")") || s.is(i, "]") || s.is(i, "}")
}

func (s *Source) isTrailer(i int32) bool { return s.is(i, ".") || s.is(i, "(") || s.is(i, "[") }

// eachParameter visits the parameter names in the header of a function.
func (s *Source) eachParameter(st statement, visit func(name int32)) {
	open := st.first
	for open < st.last && !s.is(open, "(") {
		open++ // past the name and any [type parameters]
	}
	if open >= st.last || !s.isOpening(open) {
		return
	}
	args, _ := s.arguments(open)
	for _, arg := range args {
		name := arg.first
		for name < arg.last && (s.is(name, "*") || s.is(name, "**")) {
			name++
		}
		if name < arg.last && s.isName(name) {
			visit(name)
		}
	}
}

// imported is one name that an import statement binds.
type imported struct {
	name   string
	path   string // what it stands for, in dots
	module bool   // bound by "import", so it is a module for certain
	at     int32  // the first token of the statement
}

// starNames are what "from torch.cuda import *" binds, as far as it matters here.
var starNames = []string{"CUDAGraph", "graph", "graph_pool_handle", "make_graphed_callables", "stream", "device", "set_stream", "set_device"}

// eachImport calls visit with the names that an import statement binds.
func (s *Source) eachImport(st statement, visit func(imported)) {
	switch {
	case s.is(st.first, "import"):
		s.eachImported(st.first+1, st.last, func(path, name string) {
			im := imported{name: name, path: path, module: true, at: st.first}
			if name == "" {
				im.name, _, _ = strings.Cut(path, ".")
				im.path = im.name
			}
			visit(im)
		})
	case s.is(st.first, "from"):
		split := s.find(st.first+1, st.last, "import")
		if split == st.last {
			return
		}
		module := s.joined(st.first+1, split)
		first, last := split+1, st.last
		if first < last && s.isOpening(first) {
			first, last = first+1, s.match[first]
		}
		if s.is(first, "*") && module == "torch.cuda" {
			for _, name := range starNames {
				visit(imported{name: name, path: module + "." + name, at: st.first})
			}
			return
		}
		s.eachImported(first, last, func(path, name string) {
			if name == "" {
				name = path
			}
			visit(imported{name: name, path: module + "." + path, at: st.first})
		})
	}
}

// eachImported reads "a.b as c, d" between first and last; name is empty where
// there is no "as".
func (s *Source) eachImported(first, last int32, visit func(path, name string)) {
	for first < last {
		end := s.find(first, last, ",")
		as := s.find(first, end, "as")
		name := ""
		if as+1 < end && s.isName(as+1) {
			name = s.text(as + 1)
		}
		if path := s.joined(first, as); path != "" {
			visit(path, name)
		}
		first = end + 1
	}
}

// joined is the tokens from first to last without what stands between them.
func (s *Source) joined(first, last int32) string {
	if last == first+1 {
		return s.text(first)
	}
	var b strings.Builder
	for i := first; i < last; i++ {
		b.WriteString(s.text(i))
	}
	return b.String()
}
