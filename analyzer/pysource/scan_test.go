package pysource

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// brief is a site on one line: kind, lines, pool, function and loop.
func brief(site Site) string {
	text := fmt.Sprintf("%d", site.Line)
	if site.EndLine != site.Line {
		text += fmt.Sprintf("-%d", site.EndLine)
	}
	text += " " + string(site.Kind)
	if site.Pool != PoolNotUsed {
		text += " pool=" + string(site.Pool)
	}
	if site.Function != "" {
		text += fmt.Sprintf(" in %s:%d", site.Function, site.FunctionLine)
	}
	if l := site.Loop; l != nil {
		text += fmt.Sprintf(" loop:%d", l.Line)
		if l.Comprehension {
			text += " comprehension"
		}
		if l.OneLine {
			text += " oneline"
		}
	}
	if site.WithItem {
		text += " with"
	}
	return text
}

func TestScan(t *testing.T) {
	tests := []struct {
		name, src string
		want      string // a site a line
	}{
		{"nothing", "", ""},
		{"blank", "\n\n  \n# torch.cuda.graph(g)\n", ""},
		{"strings and comments", `
import torch
a = "torch.cuda.graph(g)"  # torch.cuda.graph(g)
b = f"{torch.cuda.graph(g)}" rf'{x}\'{torch.cuda.graph(g)}'
c = """
torch.cuda.graph(g)
""" + '''\''' torch.cuda.graph(g)''' + b'\\' + "\
torch.cuda.graph(g)"
torch.cuda.graph(g)
`, "9 graph pool=missing"},
		{"nested f-strings", `
a = f"{f"{f'{x["torch.cuda.graph(g)"]:{w}}'}"}{{" + f'{a!r:>{10}}' + f"{x:'>10}"
b = f"{'}'}{x["a"]}" + f'''{
    torch.cuda.graph(g)  # } '
}'''
c = f"\N{LEFT CURLY BRACKET}\{x}" + rf"\N{x}" + f"{ {1: 2}[1]:%H:%M}"
torch.cuda.graph(g)
`, "7 graph pool=missing"},
		{"numbers", "a = 0x1f, 1_0.5e-3j, 1.e5, .5, 1if x else 2, 1.0.hex(), 1..real\ntorch.cuda.graph(g)\n", "2 graph pool=missing"},
		{"shadowed by a parameter", `
from torch.cuda import graph, CUDAGraph
def f(graph, *CUDAGraph, x=graph(g)):
    graph(g)
    CUDAGraph()
    def h():
        graph(g)
`, "3 graph pool=missing"},
		{"shadowed by a target", `
from torch.cuda import graph
def f():
    for a, (graph, c) in d:
        graph(g)
def f():
    with a as (graph), b as c:
        graph(g)
def f():
    a, graph = graph(1), 2
def f():
    if (graph := a):
        graph(g)
def f():
    graph: int = 2
    graph(g)
def f():
    try: pass
    except E as graph: graph(g)
def f():
    import graph
    graph(g)
def f():
    graph += 1
    graph(g)
def f():
    def graph(): pass
    graph(g)
`, ""},
		{"not shadowed", `
from torch.cuda import graph
def f():
    a.graph = b[graph] = c(graph=1)
    graph(g)
def f():
    global graph
    graph = 1
    graph(g)
class A:
    graph = 1
    def f(self):
        graph(g)
lambda graph: 1
graph == 2
x[graph(g)] = 1
`, "5 graph pool=missing in f:3\n9 graph pool=missing in f:6\n13 graph pool=missing in f:12\n16 graph pool=missing"},
		{"class scope", `
class A:
    from torch.cuda import graph
    graph(g)
    def f(self):
        graph(g)
`, "4 graph pool=missing"},
		{"imports", `
import os, torch.cuda, torch.cuda.graphs as tg
from torch import (
    cuda as c,  # comment
    nn,
)
from torch.cuda import *
from .torch import cuda as no
from . import torch as no2
torch.cuda.graph(g)
tg.graph(g)
c.graph(g)
graph(g)
make_graphed_callables(f, x)
no.graph(g)
no2.cuda.graph(g)
nn.graph(g)
x.torch.cuda.graph(g)
torch().cuda.graph(g)
torch.cuda.graph
torch.cuda.graph[g](g)
`, "10 graph pool=missing\n11 graph pool=missing\n12 graph pool=missing\n13 graph pool=missing\n14 make_graphed_callables pool=missing"},
		{"torch is something else", "import mytorch as torch\ntorch.cuda.graph(g)\n", ""},
		{"torch is assigned", "def f(torch):\n    torch.cuda.graph(g)\n", ""},
		{"no import at all", "    with torch.cuda.graph(g):\n", "1 graph pool=missing with"},
		{"pool", `
torch.cuda.graph(g, p)
torch.cuda.graph(cuda_graph=g, pool=p)
torch.cuda.graph(g, None)
torch.cuda.graph(g, *a)
torch.cuda.graph(*a, pool=p)
torch.cuda.graph(*a, p)
torch.cuda.graph(g, **k)
torch.cuda.graph(g, **k, pool=p)
torch.cuda.graph(g, p, *a)
torch.cuda.graph(x for x in y)
torch.cuda.graph(g, stream=lambda pool, p: 0)
torch.cuda.make_graphed_callables(f, x, 3, True, p)
torch.cuda.make_graphed_callables(f, x, 3, True)
torch.cuda.make_graphed_callables(f, x, 3, True, *a)
g.capture_begin(p)
g.capture_begin()
self.graphs[0].capture_begin(*p)
torch.cuda.CUDAGraph(keep_graph=True)
torch.cuda.graph_pool_handle()
`, `2 graph pool=given
3 graph pool=given
4 graph pool=none
5 graph pool=unsure
6 graph pool=given
7 graph pool=unsure
8 graph pool=unsure
9 graph pool=given
10 graph pool=given
11 graph pool=unsure
12 graph pool=missing
13 make_graphed_callables pool=given
14 make_graphed_callables pool=missing
15 make_graphed_callables pool=unsure
16 capture_begin pool=given
17 capture_begin pool=missing
18 capture_begin pool=unsure
19 CUDAGraph
20 graph_pool_handle`},
		{"loops", `
for i in a:
    for b in torch.cuda.graph(g): pass
    with torch.cuda.graph(g): pass
    def f(a=torch.cuda.graph(g)): torch.cuda.graph(g)
    @torch.cuda.graph(g)
    class C(torch.cuda.graph(g)):
        torch.cuda.graph(g)
else:
    torch.cuda.graph(g)
while torch.cuda.graph(g):
    pass
async def f():
    async for i in a: torch.cuda.graph(g)
for i in torch.cuda.graph(g): pass
`, `3 graph pool=missing loop:2
4 graph pool=missing loop:2 with
5 graph pool=missing loop:2
5 graph pool=missing in f:5
6 graph pool=missing loop:2
7 graph pool=missing loop:2
8 graph pool=missing loop:2
10 graph pool=missing
11 graph pool=missing loop:11
14 graph pool=missing in f:13 loop:14 oneline
15 graph pool=missing`},
		{"comprehensions", `
[torch.cuda.CUDAGraph() for _ in range(n)]
{torch.cuda.CUDAGraph(): 1
 for a in torch.cuda.CUDAGraph()
 for b in torch.cuda.CUDAGraph() if torch.cuda.CUDAGraph()}
f(torch.cuda.CUDAGraph(), (torch.cuda.CUDAGraph() for x in (torch.cuda.CUDAGraph() for y in z)))
[x for x in [torch.cuda.CUDAGraph()]]
`, `2 CUDAGraph loop:2 comprehension
3 CUDAGraph loop:3 comprehension
4 CUDAGraph
5 CUDAGraph loop:3 comprehension
5 CUDAGraph loop:3 comprehension
6 CUDAGraph
6 CUDAGraph loop:6 comprehension
6 CUDAGraph loop:6 comprehension
7 CUDAGraph`},
		{"with items", `
with torch.cuda.graph(a), torch.cuda.graph(b) as c: pass
with (torch.cuda.graph(a), x, torch.cuda.graph(b)): pass
with (torch.cuda.graph(a) as x,
      f(1, torch.cuda.graph(b))): pass
with f(torch.cuda.graph(a)): pass
with torch.cuda.graph(a) if x else y: pass
with torch.cuda.graph(a).x: pass
async def f():
    async with torch.cuda.graph(a): pass
x = torch.cuda.graph(a)
`, `2 graph pool=missing with
2 graph pool=missing with
3 graph pool=missing with
3 graph pool=missing with
4 graph pool=missing with
5 graph pool=missing
6 graph pool=missing
7 graph pool=missing
8 graph pool=missing
10 graph pool=missing in f:9 with
11 graph pool=missing`},
		{"match is a name", `
match = case = 1
match(x)
match x:
    case torch.cuda.graph(g) if torch.cuda.graph(g): torch.cuda.graph(g)
    case {"a": torch.cuda.graph(g)}:
        case(torch.cuda.graph(g))
`, `5 graph pool=missing
5 graph pool=missing
7 graph pool=missing`},
		{"unclosed bracket", `
f(a, (b
x = 1
def f():
    g(x[
    with torch.cuda.graph(g):
        pass
y = (1
@decorated
async def f():
    torch.cuda.graph(g)
`, "6 graph pool=missing in f:4 with\n11 graph pool=missing in f:10"},
		{"unclosed strings", `
x = "abc
torch.cuda.graph(g)
y = f"{abc
torch.cuda.graph(g)
z = """abc
torch.cuda.graph(g)
`, "3 graph pool=missing\n5 graph pool=missing\n7 graph pool=missing"},
		{"unclosed call", "for x in y:\n    with torch.cuda.graph(g, pool=\n    def f(): pass\n", "2 graph pool=missing loop:1"},
		{"odd brackets", "x = )]}\ny = (]\ntorch.cuda.graph(g)\n", "3 graph pool=missing"},
		{"spread out", `
for x in y:
    z = torch . cuda \
        . graph (
            g
        )
`, "3-6 graph pool=missing loop:2"},
		{"receiver", `
import warp as wp, torch
from x import graphs
wp.capture_begin()
graphs[0].first.capture_begin()
f(a)[1]("x").capture_begin()
capture_begin()
`, "5 capture_begin pool=missing\n6 capture_begin pool=missing"},
		{"form feed", "for x in y:\n\f    torch.cuda.graph(g)\n", "2 graph pool=missing loop:1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, v := range variants[:4] {
				src := v.write([]byte(test.src))
				s := Scan(src)
				checkSource(t, src, s)
				var got []string
				for _, site := range s.Sites {
					got = append(got, brief(site))
				}
				if g := strings.Join(got, "\n"); g != test.want {
					t.Errorf("%s:\n--- got\n%s\n--- want\n%s", v.name, g, test.want)
				}
			}
		})
	}
}

// checkSource checks what must hold for every source.
func checkSource(t testing.TB, src []byte, s *Source) {
	t.Helper()
	lines := len(s.lineStarts)
	if (s.Problem == "") != (s.ProblemLine == 0) || s.ProblemLine > lines {
		t.Fatalf("problem %q at line %d of %d", s.Problem, s.ProblemLine, lines)
	}
	last := -1
	for _, site := range s.Sites {
		if site.Offset < last || site.EndOffset <= site.Offset || site.EndOffset > len(src) {
			t.Fatalf("site at %d to %d after %d", site.Offset, site.EndOffset, last)
		}
		if site.Kind != KindCaptureBegin {
			last = site.Offset
		}
		if site.Line < 1 || site.EndLine < site.Line || site.EndLine > lines || site.FunctionLine > site.Line {
			t.Fatalf("site at lines %d to %d of %d", site.Line, site.EndLine, lines)
		}
		for i, arg := range site.Args {
			if arg.Offset < site.Offset || arg.ValueOffset < arg.Offset || arg.EndOffset < arg.ValueOffset || arg.EndOffset > site.EndOffset {
				t.Fatalf("argument %d: %+v of %+v", i, arg, site)
			}
		}
		if site.PoolArg >= len(site.Args) || (site.PoolArg >= 0) != (site.Pool == PoolGiven || site.Pool == PoolNone) {
			t.Fatalf("pool %s is argument %d", site.Pool, site.PoolArg)
		}
		if l := site.Loop; l != nil && (l.Line < 1 || l.Line > lines || !bytes.HasPrefix(src[l.Offset:], []byte(l.Indent))) {
			t.Fatalf("loop %+v", l)
		}
	}
}

// TestScanOffsets checks byte ranges and values.
func TestScanOffsets(t *testing.T) {
	src := "\ufeffx = 1\r\n  y = self.gs[\r\n0] . capture_begin( # c\r\n  *a , pool = f(1,\r\n2) , **k )\r\n"
	s := Scan([]byte(src))
	if len(s.Sites) != 1 || s.Newline != "\r\n" {
		t.Fatalf("%+v", s)
	}
	site := s.Sites[0]
	if got := src[site.Offset:site.EndOffset]; !strings.HasPrefix(got, "self.gs[") || !strings.HasSuffix(got, "**k )") {
		t.Errorf("the call is %q", got)
	}
	var got []string
	for _, arg := range site.Args {
		got = append(got, fmt.Sprintf("%d %s|%s|%s", arg.Stars, arg.Name, src[arg.Offset:arg.EndOffset], src[arg.ValueOffset:arg.EndOffset]))
	}
	want := "1 |*a|a\n0 pool|pool = f(1,\r\n2)|f(1,\r\n2)\n2 |**k|k"
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("--- got\n%s\n--- want\n%s", g, want)
	}
}

func TestScanBounds(t *testing.T) {
	if s := Scan(bytes.Repeat([]byte("x"), MaxSource+1)); s.Problem == "" || len(s.Sites) > 0 {
		t.Error("a source that is too large was read")
	}
	if s := Scan(bytes.Repeat([]byte("torch.cuda.graph(g)\n"), MaxSites+1)); s.Problem == "" || len(s.Sites) != MaxSites {
		t.Errorf("%d sites, %q", len(s.Sites), s.Problem)
	}
}

// TestHostile reads text that is made to be slow or deep.
func TestHostile(t *testing.T) {
	const n = 1 << 17
	for _, part := range []string{
		"(", "[x for x in ", "f\"{", "f'{f\"{", "'''", "\\'''\n", "f'{x:{", "a.", "lambda:", "if x:\n ", "import torch\n",
		"torch.cuda.graph(", "for x in y:", "@a\n", "with a as b, ", "x=", "\\\n", "#\n", "a(*", "'\\", ";", "case(", "\t", "\f", "f(lambda x,",
	} {
		Scan(bytes.Repeat([]byte(part), n/len(part)))
	}
	var deep bytes.Buffer
	for i := range 500 {
		deep.WriteString(strings.Repeat(" ", i) + "for x in y:\n")
	}
	deep.WriteString(strings.Repeat(" ", 500) + "with torch.cuda.graph(a[x]): pass\n")
	edit, err := SharePool(deep.Bytes(), 0)
	if err != nil || edit.LoopLine != 1 {
		t.Error(edit.LoopLine, err)
	}
}

func TestTorchCudaAndIndent(t *testing.T) {
	src := "\ufeff\timport torch as t\n  x = 1\ndef f():\n    from torch import cuda as c\n    y\n"
	s := Scan([]byte(src))
	for line, want := range []string{"", "\t", "  ", "", "    ", "    ", "", ""} {
		if got := s.IndentAt(line); got != want {
			t.Errorf("line %d: indent %q, want %q", line, got, want)
		}
	}
	for line, want := range map[int]string{0: "torch.cuda", 2: "t.cuda", 5: "t.cuda", 99: "torch.cuda"} {
		if got := s.TorchCuda(line); got != want {
			t.Errorf("line %d: %s, want %s", line, got, want)
		}
	}
	if got := Scan([]byte("def f():\n    from torch import cuda as c\n    y\n")).TorchCuda(3); got != "c" {
		t.Errorf("got %s", got)
	}
}

func TestSnippet(t *testing.T) {
	snippet := NewSnippet("\t", "t.cuda", "\r\n")
	for _, want := range []string{"\t#        pool = t.cuda.graph_pool_handle()\r\n", "\t#        with t.cuda.graph(g, pool=pool):\r\n"} {
		if !strings.Contains(snippet.Plain, want) {
			t.Errorf("%q lacks %q", snippet.Plain, want)
		}
	}
	for _, want := range []string{"${1:pool} = t.cuda", "(${2:g}, pool=$1)"} {
		if !strings.Contains(snippet.Placeholders, want) {
			t.Errorf("%q lacks %q", snippet.Placeholders, want)
		}
	}
	for _, line := range strings.Split(strings.TrimSuffix(snippet.Plain, "\r\n"), "\r\n") {
		if !strings.HasPrefix(line, "\t# ") {
			t.Errorf("%q is no comment", line)
		}
	}
	if s := Scan([]byte(snippet.Plain)); s.Problem != "" || len(s.tokens) > 0 {
		t.Errorf("the snippet is not only comments: %s", s.Problem)
	}
}

func BenchmarkScan(b *testing.B) {
	files, err := filepath.Glob("testdata/share/*.py")
	if err != nil {
		b.Fatal(err)
	}
	var src []byte
	for len(src) < 87<<10 {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			src = append(append(src, text...), '\n')
		}
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Scan(src)
	}
}
