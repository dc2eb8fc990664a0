package pysource

// blockKind says what a block belongs to.
type blockKind uint8

const (
	moduleBlock blockKind = iota
	functionBlock
	classBlock
	loopBlock // for, async for, while
	withBlock // with, async with
	matchBlock
	branchBlock // if, elif, else, try, except, finally, case
)

// block is the suite under a header. The header itself belongs to the block
// around it: a with item, a default argument and a decorator are run there.
// Only the condition of a while belongs to the loop, which runs it every turn.
// An else after a loop is a block next to the loop, not inside it.
type block struct {
	kind        blockKind
	oneLine     bool  // the suite stands on the line of its header
	parent      int32 // -1 for the module
	line        int32 // the logical line of its header, -1 for the module
	colon       int32 // the token that ends its header
	first, last int32 // the tokens of the suite
	scope       int32 // the module, function or class whose names it sees first
	function    int32 // the function that runs it, 0 for the module
	loop        int32 // the innermost loop of that function around the suite, or -1
}

// statement is a header or a simple statement.
type statement struct {
	first, last int32
	line        int32 // its logical line
	block       int32 // the block it stands in
	opens       int32 // the block that it is the header of, or -1
}

// suite is a block whose lines are being read.
type suite struct {
	block           int32
	column, tabless int
}

type blockBuilder struct {
	*Source
	lex     *lexer
	open    []suite
	pending int32 // a header that waits for its suite, or -1
}

func (s *Source) buildBlocks(lex *lexer) {
	s.blockOf = make([]int32, len(s.tokens))
	s.blocks = []block{{kind: moduleBlock, parent: -1, line: -1, colon: -1, last: int32(len(s.tokens)), loop: -1}}
	b := blockBuilder{Source: s, lex: lex, pending: -1, open: []suite{{}}}
	for i := range s.lines {
		b.place(int32(i))
	}
	if b.pending >= 0 {
		lex.complain(len(s.src), "a block has no body")
	}
	for _, open := range b.open {
		s.blocks[open.block].last = int32(len(s.tokens))
	}
}

// place finds the block of a line and opens the block that the line heads.
func (b *blockBuilder) place(index int32) {
	line := b.lines[index]
	top := b.open[len(b.open)-1]
	start := b.tokens[line.first].start
	switch {
	case line.column > top.column && b.pending >= 0:
		b.blocks[b.pending].first = line.first
		b.open = append(b.open, suite{b.pending, line.column, line.tabless})
	case b.pending >= 0:
		b.lex.complain(start, "a block has no body")
	case line.column > top.column:
		b.lex.complain(start, "the indentation is not expected")
	}
	b.pending = -1
	for line.column < top.column && len(b.open) > 1 {
		b.blocks[b.open[len(b.open)-1].block].last = line.first
		b.open = b.open[:len(b.open)-1]
		if line.column > b.open[len(b.open)-1].column {
			b.lex.complain(start, "the indentation matches no block")
		}
		top = b.open[len(b.open)-1]
	}
	top = b.open[len(b.open)-1]
	if line.column == top.column && line.tabless != top.tabless {
		b.lex.complain(start, "tabs and spaces are mixed")
	}
	b.split(index, top.block)
}

// split cuts a line into its header and its simple statements.
func (b *blockBuilder) split(index, current int32) {
	line := b.lines[index]
	first := line.first
	kind, colon := b.header(line, current)
	if colon >= 0 {
		opened := b.openBlock(kind, index, colon, current)
		for i := line.first; i <= colon; i++ {
			b.blockOf[i] = current
			if kind == loopBlock && b.is(line.first, "while") {
				b.blockOf[i] = opened
			}
		}
		b.statements = append(b.statements, statement{line.first, colon + 1, index, current, opened})
		first = colon + 1
		if first == line.last {
			b.pending = opened
			return
		}
		b.blocks[opened].oneLine = true
		b.blocks[opened].first, b.blocks[opened].last = first, line.last
		current = opened
	}
	for first < line.last {
		last := b.find(first, line.last, ";")
		for i := first; i < min(last+1, line.last); i++ {
			b.blockOf[i] = current
		}
		if last > first {
			b.statements = append(b.statements, statement{first, last, index, current, -1})
		}
		first = last + 1
	}
}

func (b *blockBuilder) openBlock(kind blockKind, line, colon, parent int32) int32 {
	index := int32(len(b.blocks))
	around := b.blocks[parent]
	// Without a suite the block is empty and stands after its header.
	opened := block{kind: kind, parent: parent, line: line, colon: colon, first: colon + 1, last: colon + 1,
		scope: around.scope, function: around.function, loop: around.loop}
	switch kind {
	case functionBlock:
		opened.scope, opened.function, opened.loop = index, index, -1
	case classBlock:
		opened.scope = index
	case loopBlock:
		opened.loop = int32(len(b.loops))
		b.addLoop(loop{outer: around.loop, block: index, line: line, function: around.function})
	}
	b.blocks = append(b.blocks, opened)
	return index
}

var headerKinds = map[string]blockKind{
	"def": functionBlock, "class": classBlock, "for": loopBlock, "while": loopBlock, "with": withBlock,
	"if": branchBlock, "elif": branchBlock, "else": branchBlock,
	"try": branchBlock, "except": branchBlock, "finally": branchBlock,
}

// header reports what a line is the header of and where its colon stands;
// colon is -1 for a line that is no header.
func (b *blockBuilder) header(line logicalLine, current int32) (kind blockKind, colon int32) {
	first := line.first
	if b.is(first, "async") {
		first++
	}
	if first >= line.last || b.tokens[first].kind != nameToken {
		return 0, -1
	}
	word := b.text(first)
	kind, ok := headerKinds[word]
	switch {
	case ok:
	case word == "match" && line.last-first > 2 && b.is(line.last-1, ":"):
		// match and case are names everywhere else.
		return matchBlock, line.last - 1
	case word == "case" && b.blocks[current].kind == matchBlock:
		kind = branchBlock
	default:
		return 0, -1
	}
	colon = b.headerColon(first+1, line.last)
	if colon < 0 {
		b.lex.complain(b.tokens[line.first].start, "a header has no colon")
	}
	return kind, colon
}

// headerColon is the colon outside brackets that belongs to no lambda, or -1.
func (s *Source) headerColon(first, last int32) int32 {
	lambdas := 0
	for i := first; i < last; i = s.skip(i, last) {
		switch {
		case s.is(i, "lambda"):
			lambdas++
		case s.is(i, ":") && lambdas > 0:
			lambdas--
		case s.is(i, ":"):
			return i
		}
	}
	return -1
}

// isClause reports whether a header continues the statement before it, so that
// no line can be put between the two.
func (s *Source) isClause(st statement) bool {
	switch s.text(st.first) {
	case "elif", "else", "except", "finally", "case":
		return st.opens >= 0
	}
	return false
}

// statementAt is the statement that holds token i, or nil for a separator.
func (s *Source) statementAt(i int32) *statement {
	low, high := 0, len(s.statements)
	for low < high {
		if mid := (low + high) / 2; s.statements[mid].last <= i {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(s.statements) || s.statements[low].first > i {
		return nil
	}
	return &s.statements[low]
}
