package pysource

import (
	"bytes"
	"testing"
	"time"
)

func TestH(t *testing.T) {
	const n = 1 << 20
	for _, part := range []string{
		"(", "[x for x in ", "f\"{", "f'{f\"{", "'''", "\\'''\n", "f'{x:{", "a.", "lambda:", "if x:\n ", "import torch\n",
		"torch.cuda.graph(", "for x in y:", "@a\n", "with a as b, ", "x=", "\\\n", "#\n", "a(*", "'\\", ";", "case(", "\t", "\f", "f(lambda x,", "a=torch\n", "torch.x()\n", "if x: import torch\n", "def f(a):\n  a=1\n", "x=[\n", "a(b)(", "x.a()", "f'{", "f'''{\n", "[y for x in z if w] + ", "(\n@a\n",
	} {
		st := time.Now()
		Scan(bytes.Repeat([]byte(part), n/len(part)))
		if d := time.Since(st); d > 300*time.Millisecond {
			t.Logf("%q %v", part, d)
		}
	}
}
