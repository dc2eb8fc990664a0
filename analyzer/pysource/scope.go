package pysource

import (
	"sort"
	"strings"
)

// scope is the names of a module, function or class, as far as they are names
// that the file imports anywhere.
type scope struct {
	imports map[string][]imported // in the order of the source
	bound   map[string]bool       // bound here by something else than an import
	global  map[string]bool       // declared global or nonlocal here
}

func (s *Source) buildScopes() {
	s.scopes = map[int32]*scope{}
	relevant := map[string]bool{"torch": true}
	for _, st := range s.statements {
		s.eachImport(st, func(im imported) {
			relevant[im.name] = true
			sc := s.scopeFor(s.blocks[st.block].scope)
			sc.imports[im.name] = append(sc.imports[im.name], im)
		})
	}
	bind := func(block, name int32) {
		if text := s.text(name); relevant[text] {
			s.scopeFor(block).bound[text] = true
		}
	}
	for _, st := range s.statements {
		around := s.blocks[st.block].scope
		s.eachBinding(st, func(name int32) { bind(around, name) })
		if st.opens >= 0 && s.blocks[st.opens].kind == functionBlock {
			s.eachParameter(st, func(name int32) { bind(st.opens, name) })
		}
		if s.is(st.first, "global") || s.is(st.first, "nonlocal") {
			for i := st.first + 1; i < st.last; i++ {
				if s.isName(i) && relevant[s.text(i)] {
					s.scopeFor(around).global[s.text(i)] = true
				}
			}
		}
	}
}

func (s *Source) scopeFor(block int32) *scope {
	sc := s.scopes[block]
	if sc == nil {
		sc = &scope{imports: map[string][]imported{}, bound: map[string]bool{}, global: map[string]bool{}}
		s.scopes[block] = sc
	}
	return sc
}

// lookup finds the import that a name means at token at, from the inside out
// as Python does. A name that is imported and also assigned in one scope, as
// after a failed try, counts as imported.
func (s *Source) lookup(name string, at int32) (im imported, ok, bound bool) {
	innermost := s.blocks[s.blockOf[at]].scope
	for block := innermost; block >= 0; block = s.outerScope(block) {
		if s.blocks[block].kind == classBlock && block != innermost {
			continue // a method does not see the names of its class
		}
		sc := s.scopes[block]
		if sc == nil || sc.global[name] {
			continue
		}
		if found := sc.imports[name]; len(found) > 0 {
			// The last one before, or the first if all come later.
			after := sort.Search(len(found), func(k int) bool { return found[k].at >= at })
			return found[max(after-1, 0)], true, true
		}
		if sc.bound[name] {
			return imported{}, false, true
		}
	}
	return imported{}, false, false
}

func (s *Source) outerScope(block int32) int32 {
	if parent := s.blocks[block].parent; parent >= 0 {
		return s.blocks[parent].scope
	}
	return -1
}

// resolve is the full path of the dotted name whose tokens are first to last,
// or "" if its first name is not imported. A bare torch that nothing binds is
// taken for the module, so that fragments of files can be read too.
func (s *Source) resolve(first, last int32) string {
	name := s.text(first)
	im, ok, bound := s.lookup(name, first)
	path := im.path
	if !ok {
		if bound || name != "torch" {
			return ""
		}
		path = name
	}
	if last > first+1 {
		path += s.joined(first+1, last)
	}
	if rest, ok := strings.CutPrefix(path, "torch.cuda.graphs."); ok {
		path = "torch.cuda." + rest // where the names of torch.cuda are defined
	}
	return path
}
