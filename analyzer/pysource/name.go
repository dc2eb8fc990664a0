package pysource

import "strconv"

// freeName is a name for the handle that stands nowhere in the file, not even
// as an attribute or keyword.
func (s *Source) freeName() string {
	used := map[string]bool{}
	for i, t := range s.tokens {
		switch t.kind {
		case nameToken:
			used[s.text(int32(i))] = true
		case textToken:
			s.eachFieldName(int32(i), func(name string) { used[name] = true })
		}
	}
	for _, name := range []string{"pool", "graph_pool"} {
		if !used[name] {
			return name
		}
	}
	for n := 1; ; n++ {
		if name := "graph_pool_" + strconv.Itoa(n); !used[name] {
			return name
		}
	}
}

// eachFieldName visits the words of an f-string, which may be names in its
// fields.
func (s *Source) eachFieldName(i int32, visit func(name string)) {
	t := s.tokens[i]
	quote := t.start
	for quote < t.end && isNamePart(s.src[quote]) {
		quote++
	}
	if !isFormatted(s.src[t.start:quote]) {
		return
	}
	for pos := quote; pos < t.end; {
		if !isNameStart(s.src[pos]) {
			pos++
			continue
		}
		end := nameEnd(s.src, pos)
		visit(string(s.src[pos:min(end, t.end)]))
		pos = end
	}
}

// handleCall is the call that makes a handle, in the file's own spelling, as it
// can stand before a loop; empty if the file has no name for it there.
func (s *Source) handleCall(site Site, root int32) string {
	first, _ := s.span(root)
	c := site.call
	if c.whole && c.name-1 > c.first {
		// torch.cuda.graph: what stands before the last name.
		if module := s.resolve(c.first, c.name-1); isTorchCuda(module) && s.visibleBefore(s.text(c.first), first) {
			return s.joined(c.first, c.name-1) + ".graph_pool_handle()"
		}
	}
	return s.handleSpelling(first)
}

// TorchCuda is how the file spells torch.cuda at a line, from 1; "torch.cuda"
// if it has no spelling of its own there.
func (s *Source) TorchCuda(line int) string {
	if index := s.logicalLineAt(line); index >= 0 {
		if prefix := s.modulePrefix(s.lines[index].first); prefix != "" {
			return prefix
		}
	}
	return "torch.cuda"
}

func isTorchCuda(path string) bool { return path == "torch.cuda" || path == "torch.cuda.graphs" }

// handleSpelling is [Source.handleCall] for a file that imports single names.
func (s *Source) handleSpelling(at int32) string {
	if prefix := s.modulePrefix(at); prefix != "" {
		return prefix + ".graph_pool_handle()"
	}
	return s.eachVisible(at, func(im imported) string {
		if im.path == "torch.cuda.graph_pool_handle" || im.path == "torch.cuda.graphs.graph_pool_handle" {
			return im.name + "()"
		}
		return ""
	})
}

// modulePrefix is a spelling of torch.cuda that is visible at a token.
func (s *Source) modulePrefix(at int32) string {
	return s.eachVisible(at, func(im imported) string {
		switch {
		case im.path == "torch":
			return im.name + ".cuda"
		case isTorchCuda(im.path):
			return im.name
		}
		return ""
	})
}

// eachVisible is the first text that try gives for an import that can be used
// at a token, from the top of the file.
func (s *Source) eachVisible(at int32, try func(imported) string) string {
	for _, st := range s.statements {
		text := ""
		s.eachImport(st, func(im imported) {
			if text != "" || !s.visibleBefore(im.name, at) {
				return
			}
			if now, ok, _ := s.lookup(im.name, at); ok && now.path == im.path {
				text = try(im)
			}
		})
		if text != "" {
			return text
		}
	}
	return ""
}

// visibleBefore reports whether a name is known when token at is run: its
// import stands before, or in a scope further out. A torch that nothing binds
// is taken to be there.
func (s *Source) visibleBefore(name string, at int32) bool {
	im, ok, bound := s.lookup(name, at)
	if !ok {
		return !bound && name == "torch"
	}
	return im.at < at || s.blocks[s.blockOf[im.at]].scope != s.blocks[s.blockOf[at]].scope
}
