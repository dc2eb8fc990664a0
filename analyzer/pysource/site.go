package pysource

// Kind is what a site calls.
type Kind string

// The kinds of sites.
const (
	// KindGraph is torch.cuda.graph(...), the context of a capture.
	KindGraph Kind = "graph"
	// KindGraphedCallables is torch.cuda.make_graphed_callables(...), which captures.
	KindGraphedCallables Kind = "make_graphed_callables"
	// KindCaptureBegin is X.capture_begin(...); what X is can only be guessed.
	KindCaptureBegin Kind = "capture_begin"
	// KindNewGraph is torch.cuda.CUDAGraph(...), an empty graph.
	KindNewGraph Kind = "CUDAGraph"
	// KindPoolHandle is torch.cuda.graph_pool_handle(), the id of a new pool.
	KindPoolHandle Kind = "graph_pool_handle"
)

// Captures reports whether a call of this kind captures into a pool.
func (k Kind) Captures() bool { return k.poolPosition() >= 0 }

// poolPosition is where pool stands among the arguments by position, from 0,
// or -1 if there is no such argument.
func (k Kind) poolPosition() int {
	switch k {
	case KindGraph:
		return 1
	case KindGraphedCallables:
		return 4
	case KindCaptureBegin:
		return 0
	}
	return -1
}

// Pool says what is known of the pool argument of a site.
type Pool string

// The states of a pool argument.
const (
	// PoolNotUsed is for calls that have no such argument.
	PoolNotUsed Pool = ""
	// PoolMissing means that no pool is passed: the capture makes its own.
	PoolMissing Pool = "missing"
	// PoolGiven means that one is passed, by keyword or position.
	PoolGiven Pool = "given"
	// PoolNone means that None is passed, which is the same as no pool.
	PoolNone Pool = "none"
	// PoolUnsure means that *args or **kwargs may carry one.
	PoolUnsure Pool = "unsure"
)

// Loop is the loop that repeats a site.
type Loop struct {
	// Offset is where the line of its header starts, or the line of the
	// statement that holds a comprehension.
	Offset int
	// Line is that line, from 1.
	Line int
	// Indent is the white space that the line starts with.
	Indent string
	// Comprehension is set for a comprehension or generator.
	Comprehension bool
	// OneLine is set if the body stands on the line of the header.
	OneLine bool
}

// Site is one call that makes, captures or pools CUDA graphs.
type Site struct {
	Kind Kind
	// Offset and EndOffset are the bytes of the call, from its first name to
	// its closing bracket.
	Offset, EndOffset int
	// Line and EndLine are the lines of those, from 1.
	Line, EndLine int
	// Args are its arguments in order.
	Args []Arg
	// Pool says whether a pool is passed.
	Pool Pool
	// PoolArg is the index in Args of the pool argument, or -1.
	PoolArg int
	// Function is the name of the function that holds it, empty at module level.
	Function string
	// FunctionLine is the line of the def, 0 at module level.
	FunctionLine int
	// Loop is the outermost loop around it in that function, or nil. The test
	// of a while counts as inside; what a for iterates over does not.
	Loop *Loop
	// WithItem is set if the call is a whole item of a with statement.
	WithItem bool

	call     call
	trailing int32 // the comma after the last argument, or -1
}

// sitePaths are the full names of the functions that make a site.
var sitePaths = map[string]Kind{
	"torch.cuda.graph":                  KindGraph,
	"torch.cuda.make_graphed_callables": KindGraphedCallables,
	"torch.cuda.CUDAGraph":              KindNewGraph,
	"torch.cuda.graph_pool_handle":      KindPoolHandle,
}

func (s *Source) findSites(lex *lexer) {
	for _, c := range s.calls {
		if kind, ok := s.siteKind(c); ok {
			if len(s.Sites) == MaxSites {
				lex.complain(s.tokens[c.first].start, "too many CUDA graph calls")
				return
			}
			s.Sites = append(s.Sites, s.site(kind, c))
		}
	}
}

func (s *Source) siteKind(c call) (Kind, bool) {
	if s.is(c.name, "capture_begin") && s.is(c.name-1, ".") {
		if c.whole {
			// Other libraries have a function of that name: wp.capture_begin().
			if im, ok, _ := s.lookup(s.text(c.first), c.first); ok && im.module {
				return "", false
			}
		}
		return KindCaptureBegin, true
	}
	kind, ok := sitePaths[s.path(c)]
	return kind, ok
}

func (s *Source) site(kind Kind, c call) Site {
	site := Site{Kind: kind, call: c, PoolArg: -1}
	site.Offset, site.EndOffset = s.tokens[s.primary(c)].start, s.callEnd(c)
	site.Line, site.EndLine = s.lineOf(site.Offset), s.lineOf(site.EndOffset)
	site.Args, site.trailing = s.arguments(c.open)
	s.findPool(&site)
	if f := s.blocks[s.blocks[s.blockOf[c.name]].function]; f.kind == functionBlock {
		site.Function, site.FunctionLine = s.functionName(f), s.lineOf(s.tokens[s.lines[f.line].first].start)
	}
	if root := s.rootLoop(c.name); root >= 0 {
		site.Loop = s.exportLoop(root)
	}
	site.WithItem = s.isWithItem(c)
	return site
}

// primary is the first token of the expression that a call is made on: for
// a[0].b() that is a.
func (s *Source) primary(c call) int32 {
	first := c.first
	for s.is(first-1, ".") {
		i := first - 2
		for i >= 0 && s.match[i] >= 0 && s.match[i] < i {
			i = s.match[i] - 1 // over the brackets of subscripts and calls
		}
		if !s.isName(i) {
			return min(i+1, first)
		}
		first = i
	}
	return first
}

// findPool fills in what is known of the pool argument.
func (s *Source) findPool(site *Site) {
	position := site.Kind.poolPosition()
	if position < 0 {
		return
	}
	site.Pool = PoolMissing
	for i, arg := range site.Args {
		switch {
		case arg.Name == "pool", arg.Name == "" && arg.Stars == 0 && i == position && site.Pool != PoolUnsure:
			site.Pool, site.PoolArg = PoolGiven, i
			if arg.last == arg.value+1 && s.is(arg.value, "None") {
				site.Pool = PoolNone
			}
			return
		case arg.Stars == 2, arg.Stars == 1 && i <= position, s.isGenerator(arg):
			site.Pool = PoolUnsure // unless a keyword follows
		}
	}
}

func (s *Source) functionName(f block) string {
	for i := s.lines[f.line].first; i < f.colon; i++ {
		if s.is(i, "def") && s.isName(i+1) {
			return s.text(i + 1)
		}
	}
	return ""
}

func (s *Source) exportLoop(index int32) *Loop {
	l := s.loops[index]
	line := s.lines[l.line]
	out := &Loop{Offset: line.start, Line: s.lineOf(s.tokens[line.first].start), Comprehension: l.block < 0}
	out.Indent = string(s.src[line.start:line.indentEnd])
	if l.block >= 0 {
		out.OneLine = s.blocks[l.block].oneLine
	}
	return out
}

// isWithItem reports whether a call is a whole item of a with statement, with
// or without brackets around the items.
func (s *Source) isWithItem(c call) bool {
	st := s.statementAt(c.name)
	if st == nil || st.opens < 0 || s.blocks[st.opens].kind != withBlock || !s.isOpening(c.open) {
		return false
	}
	before, after := s.primary(c)-1, s.match[c.open]+1
	switch {
	case s.is(after, ","), s.is(after, ":"), s.is(after, "as"):
	case s.is(after, ")") && s.is(after+1, ":"):
	default:
		return false
	}
	items := st.first + 1 // the token after with
	if s.is(st.first, "async") {
		items++
	}
	if before == items-1 {
		return true
	}
	if s.is(items, "(") && s.match[items] == s.blocks[st.opens].colon-1 {
		return before == items || s.is(before, ",") && s.reaches(items+1, before)
	}
	return s.is(before, ",") && s.reaches(items, before)
}

// reaches reports whether token i stands outside the brackets that open from
// first on.
func (s *Source) reaches(first, i int32) bool {
	for first < i {
		first = s.skip(first, i+1)
	}
	return first == i
}
