package pysource

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditedProgramsRun writes random programs that capture graphs in all kinds
// of places, makes every edit that is offered for any line of them, and runs
// them before and after.
func TestEditedProgramsRun(t *testing.T) {
	python := requirePython(t)
	programs := 200
	if testing.Short() {
		programs = 60
	}
	dir := t.TempDir()
	var pairs []string
	refused := map[Reason]int{}
	for seed := range programs {
		p := &program{rng: rand.New(rand.NewPCG(uint64(seed), 1))}
		src := p.write()
		s := Scan(src)
		before := filepath.Join(dir, fmt.Sprintf("%d.py", seed))
		writeFile(t, before, src)
		if s.Problem != "" {
			t.Fatalf("program %d, line %d: %s\n%s", seed, s.ProblemLine, s.Problem, src)
		}
		seen := map[string]bool{}
		for line := range len(s.lineStarts) + 1 {
			edit, err := s.SharePool(line)
			var refusal Refusal
			if errors.As(err, &refusal) {
				refused[refusal.Reason]++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			text := edit.Apply(src)
			if seen[string(text)] {
				continue
			}
			seen[string(text)] = true
			checkEdit(t, src, edit)
			after := filepath.Join(dir, fmt.Sprintf("%d_%d.py", seed, line))
			writeFile(t, after, text)
			pairs = append(pairs, before+"\t"+after)
		}
	}
	cmd := exec.Command(python, "testdata/run_programs.py")
	cmd.Stdin = strings.NewReader(strings.Join(pairs, "\n"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s refused: %v", out, refused)
	for i, line := range strings.Split(string(out), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "FAIL" {
			src, err := os.ReadFile(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s\n%s", line, src)
			if i > 3 {
				break
			}
		}
	}
	if len(pairs) < programs/4 {
		t.Errorf("only %d edits for %d programs", len(pairs), programs)
	}
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// program writes one random program. Every loop of it turns twice, and a branch
// is either always taken or never.
type program struct {
	rng    *rand.Rand
	out    bytes.Buffer
	indent string
	step   string // one level of indentation
	names  int
	cuda   string // how torch.cuda is spelled
}

// pick is one of the options.
func (p *program) pick(options ...string) string { return options[p.rng.IntN(len(options))] }

func (p *program) name() string {
	p.names++
	return fmt.Sprintf("n%d", p.names)
}

func (p *program) line(format string, args ...any) {
	p.out.WriteString(p.indent)
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteByte('\n')
}

func (p *program) write() []byte {
	p.step = p.pick("    ", "  ", "\t")
	imports := p.pick("import torch", "import torch as t", "from torch import cuda", "import torch.cuda as tc", "import torch.cuda")
	p.cuda = map[string]string{"import torch": "torch.cuda", "import torch as t": "t.cuda", "from torch import cuda": "cuda",
		"import torch.cuda as tc": "tc", "import torch.cuda": "torch.cuda"}[imports]
	p.line("import contextlib")
	p.line("%s", imports)
	p.line("keep = []")
	p.line("def fn(x): return x")
	p.line("def G(number):")
	p.line("%sgraph = %s.CUDAGraph()", p.step, p.cuda)
	p.line("%sgraph.number = number", p.step)
	p.line("%sreturn graph", p.step)
	if p.rng.IntN(3) == 0 {
		p.line("%s = 0", p.pick("pool", "graph_pool"))
	}
	p.block(0)
	src := p.out.Bytes()
	if p.rng.IntN(4) == 0 {
		src = bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))
	}
	if p.rng.IntN(4) == 0 {
		src = append([]byte(byteOrderMark), src...)
	}
	return src
}

// suite writes a block one level deeper.
func (p *program) suite(depth int) {
	saved := p.indent
	p.indent += p.step
	if depth < 6 {
		p.block(depth + 1)
	} else {
		p.line("pass") // Python takes no more than 20 blocks in each other
	}
	p.indent = saved
}

func (p *program) block(depth int) {
	statements := 1 + p.rng.IntN(2)
	if depth == 0 {
		statements += 2
	}
	for range statements {
		switch {
		case depth < 4 && p.rng.IntN(2) == 0:
			p.compound(depth)
		case p.rng.IntN(3) == 0:
			p.filler()
		default:
			p.capture(depth)
		}
	}
	p.line("pass")
}

func (p *program) filler() {
	switch p.rng.IntN(7) {
	case 0:
		p.line("# a comment: for x in y:")
	case 1:
		p.line("\n")
	case 2:
		p.line("\"\"\"text\n# for x in %s.graph(g)\n\"\"\"", p.cuda)
	case 3:
		p.line("%s = [\n1,\n# inside\n  2]", p.name())
	case 4:
		p.line("%s = 1 + \\\n  2; %s = {1: 2, 'x': lambda a, b=1: a}", p.name(), p.name())
	case 5:
		p.line("f'{1:>{2}} {{}} {\"x\"!r}'")
	case 6:
		p.line("%s: int = 3  # torch", p.name())
	}
}

func (p *program) compound(depth int) {
	if p.rng.IntN(4) == 0 {
		p.line("# what follows")
	}
	switch p.rng.IntN(12) {
	case 0, 1, 2, 3:
		p.line("for %s in range(2):", p.name())
		p.suite(depth)
		if p.rng.IntN(4) == 0 {
			p.line("else:")
			p.suite(depth)
		}
	case 4:
		name := p.name()
		p.line("%s = 2", name)
		p.line("while %s > 0:", name)
		p.line("%s%s -= 1", p.step, name)
		p.suite(depth)
	case 5:
		p.line("if %s:", p.pick("True", "False"))
		p.suite(depth)
		if p.rng.IntN(2) == 0 {
			p.line("elif %s:", p.pick("True", "False"))
			p.suite(depth)
		}
		if p.rng.IntN(2) == 0 {
			p.line("else:")
			p.suite(depth)
		}
	case 6:
		p.line("try:")
		p.suite(depth)
		p.line("except ValueError as %s:", p.name())
		p.suite(depth)
		p.line("finally:")
		p.suite(depth)
	case 7:
		p.line("with contextlib.nullcontext() as %s, contextlib.nullcontext(\n):", p.name())
		p.suite(depth)
	case 8, 9:
		name := p.name()
		if p.rng.IntN(3) == 0 {
			p.line("@contextlib.contextmanager")
			p.line("@fn")
		} else {
			defer p.line("%s()", name)
		}
		p.line("def %s(a=1, *, b=lambda x, y: 2):", name)
		p.suite(depth)
	case 10:
		p.line("class %s:", p.name())
		p.suite(depth)
	case 11:
		p.line("match {'a': 1}:")
		saved := p.indent
		p.indent += p.step
		p.line("case {'a': 1, **%s} if fn(True):", p.name())
		p.suite(depth)
		p.line("case _:")
		p.suite(depth)
		p.indent = saved
	}
}

func (p *program) capture(depth int) {
	p.names++
	id := p.names
	given := p.pick("", "", "", "", ", pool=1", ", pool=None")
	switch p.rng.IntN(10) {
	case 0, 1:
		p.line("with %s.graph(G(%d)%s):%s", p.cuda, id, given, p.pick("", "  # why"))
		p.suite(depth)
	case 2:
		p.line("with %s.graph(\n%sG(%d)%s%s  # one\n%s):", p.cuda, p.indent, id, given, p.pick("", ","), p.indent)
		p.suite(depth)
	case 3:
		p.line("with %s.graph(\n%s# above\n%sG(%d),\n%sstream=None%s,  # one\n%s# below\n):", p.cuda, p.indent, p.indent, id, p.indent, given, p.indent)
		p.suite(depth)
	case 4:
		name := p.name()
		p.line("%s = %s.CUDAGraph(); %s.number = %d", name, p.cuda, name, id)
		p.line("with contextlib.nullcontext(), %s.graph(%s,), contextlib.nullcontext():", p.cuda, name)
		p.suite(depth)
		if p.rng.IntN(3) > 0 {
			p.line("keep.append((%s, 1))", name)
		}
	case 5:
		name := p.name()
		p.line("%s = %s.CUDAGraph()", name, p.cuda)
		p.line("%s.number = %d", name, id)
		p.line("keep.append(%s)", name)
		p.line("%s.capture_begin(%s)", name, p.pick("", "capture_error_mode='x'", "# c\n"+p.indent))
		p.line("%s.capture_end()", name)
	case 6:
		p.line("%s.make_graphed_callables(fn, (%d,), 3%s)", p.cuda, id, given)
	case 7:
		p.line("%s = [%s.make_graphed_callables(fn, (%d,)) for k in range(2)]", p.name(), p.cuda, id)
	case 8:
		p.line("%s(%s.make_graphed_callables(fn, (%d,)%s)\n# within\n  for k in range(2) if k >= 0)", p.pick("list", "tuple", "fn"), p.cuda, id, given)
	case 9:
		p.line("with (\n  contextlib.nullcontext() as %s,\n  %s.graph(G(%d)),\n):", p.name(), p.cuda, id)
		p.suite(depth)
	}
}
