package pysource

// A pool dies with the last graph of it, and its handle must not be used after
// that. So a graph that every turn makes anew and drops takes no memory along,
// and sharing would break a loop that works. This file looks for that shape.

// tokenRange is some tokens of the source.
type tokenRange struct{ first, last int32 }

// sameGraph reports whether every turn captures into one graph that was made
// before the loop.
func (sh *shared) sameGraph(site Site) bool {
	name := sh.owner(site)
	return site.Kind != KindGraphedCallables && name.last == name.first+1 &&
		sh.isName(name.first) && !sh.bound[sh.text(name.first)]
}

// dropped reports whether the graph of a capture is made in the loop and
// nothing in the loop keeps it.
func (sh *shared) dropped(site Site) bool {
	name := sh.owner(site)
	if sh.isNewGraph(name) {
		return true // made in the argument itself
	}
	if !sh.isDotted(name) || !sh.madeInLoop(site, name) {
		return false
	}
	return !sh.kept(name, 0)
}

// maxContainers bounds how deep containers in containers are followed.
const maxContainers = 4

// kept reports whether what a name stands for may outlive a turn of the loop,
// be it in a container that does.
func (sh *shared) kept(name tokenRange, depth int) bool {
	first, last := sh.span(sh.root)
	var st *statement
	lambda, kept := false, false
	for i := first; i < last; i++ {
		if st == nil || i >= st.last {
			st, lambda = sh.statementAt(i), false
		}
		lambda = lambda || sh.is(i, "lambda")
		if st == nil || i == name.first || !sh.same(i, name) {
			continue
		}
		end := i + name.last - name.first
		if sh.is(end, ".") && (sh.is(end+1, "reset") || sh.is(end+1, "clear")) {
			return false
		}
		if kept || !sh.keeps(*st, i, end, lambda) {
			continue
		}
		kept = true
		if box := st.first; depth < maxContainers && sh.isContainer(*st) && sh.madeEmpty(box) {
			kept = sh.kept(tokenRange{box, box + 1}, depth+1)
		}
	}
	return kept
}

// isContainer reports whether a statement stores into the name it starts with:
// c[k] = x, c += x, c.append(x).
func (sh *shared) isContainer(st statement) bool {
	if !sh.isName(st.first) || st.opens >= 0 {
		return false
	}
	next := st.first + 1
	return sh.is(next, "[") || sh.is(next, "+=") ||
		sh.is(next, ".") && next+1 < st.last && storingMethods[sh.text(next+1)] && sh.is(next+2, "(")
}

// freshCalls are calls that make an empty container.
var freshCalls = map[string]bool{"dict": true, "list": true, "set": true, "defaultdict": true, "deque": true, "OrderedDict": true}

// madeEmpty reports whether every turn makes the container anew that token box
// names.
func (sh *shared) madeEmpty(box int32) bool {
	if !sh.bound[sh.text(box)] {
		return false
	}
	first, last := sh.span(sh.root)
	for _, st := range sh.statements {
		if st.first < first || st.last > last || !sh.is(st.first, sh.text(box)) {
			continue
		}
		if value := sh.find(st.first, st.last, "=") + 1; sh.assigns(st, tokenRange{box, box + 1}) && value < st.last &&
			(sh.is(value, "{") || sh.is(value, "[") || freshCalls[sh.text(value)] && sh.is(value+1, "(")) {
			return true
		}
	}
	return false
}

// owner is what holds the graph: the argument of graph(...), the X of
// X.capture_begin(), the target that graphed callables are assigned to. It is
// empty where that cannot be told.
func (sh *shared) owner(site Site) tokenRange {
	switch site.Kind {
	case KindGraph:
		arg := argument(site, "cuda_graph", 0)
		return tokenRange{arg.value, arg.last}
	case KindCaptureBegin:
		return tokenRange{sh.primary(site.call), site.call.name - 1}
	case KindGraphedCallables:
		equals := site.call.first - 1
		if st := sh.statementAt(site.call.first); st != nil && sh.find(st.first, st.last, "=") == equals {
			return tokenRange{st.first, equals}
		}
	}
	return tokenRange{}
}

// isNewGraph reports whether the tokens are one call of torch.cuda.CUDAGraph.
func (s *Source) isNewGraph(r tokenRange) bool {
	for _, site := range s.Sites {
		if site.Kind == KindNewGraph && site.call.first == r.first && s.isOpening(site.call.open) {
			return s.match[site.call.open] == r.last-1
		}
	}
	return false
}

// isDotted reports whether the tokens are names joined by dots.
func (s *Source) isDotted(r tokenRange) bool {
	for i := r.first; i < r.last; i++ {
		if name := (i-r.first)%2 == 0; name && !s.isName(i) || !name && !s.is(i, ".") {
			return false
		}
	}
	return (r.last-r.first)%2 == 1
}

// same reports whether the expression at token i starts with the same names.
func (s *Source) same(i int32, r tokenRange) bool {
	if s.is(i-1, ".") {
		return false
	}
	for k := r.first; k < r.last; k++ {
		if !s.is(i+k-r.first, s.text(k)) {
			return false
		}
	}
	return true
}

// madeInLoop reports whether a statement of the loop makes a graph and assigns
// it to the name.
func (sh *shared) madeInLoop(capture Site, name tokenRange) bool {
	if name.last > name.first+1 && sh.bound[sh.text(name.first)] {
		return false // part of something that differs every turn
	}
	for _, site := range sh.Sites {
		makes := site.Kind == KindNewGraph || site.Kind == KindGraphedCallables && site.Offset == capture.Offset
		if !makes || sh.rootLoop(site.call.name) != sh.root {
			continue
		}
		if st := sh.statementAt(site.call.name); st != nil && sh.assigns(*st, name) {
			return true
		}
	}
	return false
}

// assigns reports whether a statement assigns to the name, which may have dots.
func (s *Source) assigns(st statement, name tokenRange) bool {
	found := false
	if name.last == name.first+1 {
		s.eachBinding(st, func(i int32) { found = found || s.text(i) == s.text(name.first) })
		return found
	}
	for i := st.first; i < st.last; i = s.skip(i, st.last) {
		if s.same(i, name) && s.is(i+name.last-name.first, "=") {
			return true
		}
	}
	return false
}

// storingMethods are methods of containers that keep an argument.
var storingMethods = map[string]bool{
	"add": true, "append": true, "appendleft": true, "extend": true, "insert": true, "put": true,
	"setdefault": true, "update": true,
}

// lookingCalls are calls that look at their argument and keep nothing of it.
var lookingCalls = map[string]bool{
	"all": true, "any": true, "bool": true, "enumerate": true, "len": true, "print": true,
	"reversed": true, "sorted": true, "zip": true,
}

// keeps reports whether the mention from i to end may make the graph outlive
// its turn. Any use of the bare name may; calling it, or its methods, does not.
func (sh *shared) keeps(st statement, i, end int32, lambda bool) bool {
	if sh.targets[i] || sh.is(end, "=") && !sh.is(i-1, "(") && !sh.is(i-1, ",") {
		// It is bound here. A second target may be a container.
		equals := sh.find(st.first, st.last, "=")
		return equals < st.last && sh.find(equals+1, st.last, "=") < st.last
	}
	switch {
	case sh.is(end, "("), sh.is(end, "["), sh.is(end, "is"), sh.is(i-1, "in"), sh.is(st.first, "del"):
		return false
	case sh.is(i-1, "(") && sh.isName(i-2) && lookingCalls[sh.text(i-2)]:
		return false
	case lambda, sh.blocks[sh.blockOf[i]].function != sh.loops[sh.root].function:
		return true // a closure
	case !sh.is(end, "."):
		return true
	}
	return !sh.is(end+2, "(") && sh.stored(i)
}

// maxArguments bounds how far back the method is looked for that stores a value.
const maxArguments = 64

// stored reports whether the value at token i is assigned as it is, or is
// handed to a method that stores it.
func (s *Source) stored(i int32) bool {
	if s.is(i-1, "=") {
		return true
	}
	if !s.is(i-1, "(") && !s.is(i-1, ",") {
		return false
	}
	open := i - 1
	for n := 0; n < maxArguments && open > 0 && !s.isBracket(open); n++ {
		if s.match[open] >= 0 {
			open = s.match[open]
		}
		open--
	}
	return open > 0 && s.is(open, "(") && s.isName(open-1) && storingMethods[s.text(open-1)]
}
