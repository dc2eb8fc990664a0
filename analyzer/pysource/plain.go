package pysource

// shared is a loop that is about to get one pool, with what its turns change.
type shared struct {
	*Source
	root  int32
	bound map[string]bool // names that the loop binds: they may differ every turn
	// targets are the tokens of those names where they are bound.
	targets map[int32]bool
	devices bool // the loop goes over devices
}

func (s *Source) newShared(root int32) *shared {
	sh := &shared{Source: s, root: root, bound: map[string]bool{}, targets: map[int32]bool{}}
	first, last := s.span(root)
	for _, st := range s.statements {
		if st.first < first || st.last > last || s.blocks[st.block].function != s.loops[root].function {
			continue
		}
		s.eachBinding(st, sh.bind)
	}
	for _, l := range s.loops {
		if l.root == root && l.block < 0 {
			s.eachComprehensionTarget(l, sh.bind)
		}
	}
	sh.devices = sh.overDevices()
	return sh
}

func (sh *shared) bind(name int32) {
	sh.bound[sh.text(name)] = true
	sh.targets[name] = true
}

// eachComprehensionTarget visits the names that a comprehension goes over.
func (s *Source) eachComprehensionTarget(l loop, visit func(name int32)) {
	for i := l.open + 1; i < l.close; i = s.skip(i, l.close) {
		if s.is(i, "for") {
			s.eachTarget(i+1, s.find(i+1, l.close, "in"), visit)
		}
	}
}

// check refuses a capture for which sharing is unsafe or of no effect, or whose
// graph cannot be followed.
func (sh *shared) check(site Site) error {
	refuse := func(reason Reason) error { return Refusal{Reason: reason, Line: site.Line} }
	switch {
	case sh.devices:
		return refuse(ReasonDeviceLoop)
	case site.Kind == KindCaptureBegin && !sh.makesGraphs():
		return refuse(ReasonUnknownGraph)
	case site.Kind == KindGraphedCallables && sh.varies(argument(site, "callables", 0)):
		return refuse(ReasonCallablePerTurn)
	case sh.streamPerTurn(site):
		return refuse(ReasonStreamPerTurn)
	case sh.sameGraph(site):
		return refuse(ReasonSameGraph)
	case sh.dropped(site):
		return refuse(ReasonGraphDropped)
	}
	return nil
}

// argument is the argument of that name or position, or an empty one.
func argument(site Site, name string, position int) Arg {
	for i, arg := range site.Args {
		if arg.Name == name || arg.Name == "" && arg.Stars == 0 && i == position {
			return arg
		}
	}
	return Arg{}
}

// varies reports whether an argument may be another one every turn.
func (sh *shared) varies(arg Arg) bool { return sh.mentions(arg.value, arg.last, sh.bound) }

// mentions reports whether the tokens use one of the names, also inside the
// fields of an f-string.
func (s *Source) mentions(first, last int32, names map[string]bool) bool {
	for i := first; i < last; i++ {
		switch s.tokens[i].kind {
		case nameToken:
			if names[s.text(i)] && !s.is(i-1, ".") {
				return true
			}
		case textToken:
			found := false
			s.eachFieldName(i, func(name string) { found = found || names[name] })
			if found {
				return true
			}
		}
	}
	return false
}

var devicePaths = map[string]bool{
	"torch.cuda.device": true, "torch.cuda.set_device": true,
	"torch.accelerator.set_device_index": true, "torch.accelerator.set_device_idx": true,
	"torch.accelerator.device_index": true,
}

// overDevices reports whether the loop goes over devices: its header counts them, or
// its body changes to a device that differs every turn.
func (sh *shared) overDevices() bool {
	for i := range sh.loops {
		if l := sh.loops[i]; l.root == sh.root && sh.countsDevices(l) {
			return true
		}
	}
	for _, c := range sh.calls {
		if sh.rootLoop(c.name) == sh.root && sh.isOpening(c.open) && devicePaths[sh.path(c)] &&
			sh.mentions(c.open, sh.match[c.open], sh.bound) {
			return true
		}
	}
	return false
}

func (sh *shared) countsDevices(l loop) bool {
	first, last := l.open, l.close
	if l.block >= 0 {
		first, last = sh.lines[l.line].first, sh.blocks[l.block].colon
	}
	for i := first; i < last; i++ {
		if sh.is(i, "device_count") {
			return true
		}
	}
	return false
}

func (s *Source) makesGraphs() bool {
	for _, site := range s.Sites {
		if site.Kind == KindNewGraph {
			return true
		}
	}
	return false
}

// streamPerTurn reports whether every turn captures on a stream of its own.
func (sh *shared) streamPerTurn(site Site) bool {
	switch site.Kind {
	case KindGraph:
		arg := argument(site, "stream", 2)
		return sh.varies(arg) || sh.makesStream(arg.value, arg.last)
	case KindCaptureBegin:
		first, last := sh.streamAround(site.call.name)
		return sh.mentions(first, last, sh.bound) || sh.makesStream(first, last)
	}
	return false
}

// makesStream reports whether the tokens make a new stream.
func (s *Source) makesStream(first, last int32) bool {
	for i := first; i+1 < last; i++ {
		if s.is(i, "Stream") && s.is(i+1, "(") {
			return true
		}
	}
	return false
}

// mintedPerTurn reports whether the pool of a capture is made in the innermost
// loop around it: in the argument, or by an assignment that no "if" guards.
func (s *Source) mintedPerTurn(site Site) bool {
	inner := s.loopOf[site.call.name]
	if inner < 0 {
		return false
	}
	arg := site.Args[site.PoolArg]
	for _, handle := range s.Sites {
		at := handle.call.name
		if handle.Kind != KindPoolHandle || !s.inLoop(at, inner) {
			continue
		}
		if arg.first <= at && at < arg.last {
			return true
		}
		st := s.statementAt(at)
		name := tokenRange{arg.value, arg.last}
		if st != nil && s.isDotted(name) && s.assigns(*st, name) && !s.guarded(at, s.text(name.first)) {
			return true
		}
	}
	return false
}

// guarded reports whether a branch around token i tests the name: then the
// assignment under it may happen once only.
func (s *Source) guarded(i int32, name string) bool {
	for b := s.blockOf[i]; b >= 0; b = s.blocks[b].parent {
		if s.blocks[b].kind == branchBlock &&
			s.mentions(s.lines[s.blocks[b].line].first, s.blocks[b].colon, map[string]bool{name: true}) {
			return true
		}
	}
	return false
}
