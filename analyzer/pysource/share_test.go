package pysource

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the .golden files anew")

// frameLine is the line that ends with the comment "frame", or 0.
func frameLine(src []byte) int {
	before, _, found := bytes.Cut(src, []byte("# frame"))
	if !found {
		return 0
	}
	return 1 + bytes.Count(before, []byte("\n"))
}

// variants are other ways to write a file that must lead to the same edit.
var variants = []struct {
	name  string
	write func(src []byte) []byte
}{
	{"as it is", func(src []byte) []byte { return src }},
	{"CRLF", func(src []byte) []byte { return bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")) }},
	{"CR", func(src []byte) []byte { return bytes.ReplaceAll(src, []byte("\n"), []byte("\r")) }},
	{"byte order mark", func(src []byte) []byte { return append([]byte("\ufeff"), src...) }},
	{"in a function", func(src []byte) []byte {
		text := "def wrapper():\n\t" + strings.ReplaceAll(string(src), "\n", "\n\t")
		return []byte(strings.ReplaceAll(text, "\n\t\n", "\n\n"))
	}},
}

func TestSharePool(t *testing.T) {
	files, err := filepath.Glob("testdata/share/*.py")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".py") + ".golden"
			if *update {
				edit, err := SharePool(src, frameLine(src))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, edit.Apply(src), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range variants {
				line, text := frameLine(src), v.write(src)
				if v.name == "in a function" {
					if bytes.Contains(src, []byte(`"""`)) || bytes.Contains(src, []byte("\\\n")) {
						continue // its inner lines would change
					}
					if line > 0 {
						line++
					}
				}
				edit, err := SharePool(text, line)
				if err != nil {
					t.Errorf("%s: %v", v.name, err)
					continue
				}
				checkEdit(t, text, edit)
				got := edit.Apply(text)
				if w := v.write(want); !bytes.Equal(got, w) {
					t.Errorf("%s:\n--- got\n%q\n--- want\n%q", v.name, got, w)
				}
			}
		})
	}
}

// TestGoldenCompiles asks Python whether it reads the edited files.
func TestGoldenCompiles(t *testing.T) {
	python := requirePython(t)
	files, err := filepath.Glob("testdata/share/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	dir := t.TempDir()
	args := []string{"-m", "py_compile"}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variants[:4] {
			name := filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".golden")+"_"+strings.ReplaceAll(v.name, " ", "_")+".py")
			if err := os.WriteFile(name, v.write(src), 0o666); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
	}
	if out, err := exec.Command(python, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// checkEdit checks what must hold for every edit.
func checkEdit(t testing.TB, src []byte, edit Edit) {
	t.Helper()
	if len(edit.Changes) < 2 {
		t.Fatalf("%d changes, want the handle and its use", len(edit.Changes))
	}
	if edit.SiteLine < edit.LoopLine {
		t.Errorf("the loop at line %d comes after the capture at line %d", edit.LoopLine, edit.SiteLine)
	}
	end := 0
	for _, c := range edit.Changes {
		if c.Offset != c.EndOffset || c.Offset < end || c.Offset > len(src) || c.NewText == "" {
			t.Fatalf("change %+v after offset %d of %d", c, end, len(src))
		}
		end = c.EndOffset
	}
	after := edit.Apply(src)
	s := Scan(after)
	if s.Problem != "" {
		t.Fatalf("the edit breaks line %d: %s\n%s", s.ProblemLine, s.Problem, after)
	}
	// Where the site is now, and that it and nothing else was given the handle.
	moved := func(offset int) int {
		to := offset
		for _, c := range edit.Changes {
			if c.Offset <= offset {
				to += len(c.NewText)
			}
		}
		return to
	}
	given := 0
	for _, site := range s.Sites {
		if site.PoolArg >= 0 && string(after[site.Args[site.PoolArg].ValueOffset:site.Args[site.PoolArg].EndOffset]) == edit.Variable {
			given++
			if site.Loop == nil || site.Pool != PoolGiven {
				t.Errorf("site %+v got the handle", site)
			}
		}
		if site.Kind == edit.Site.Kind && site.Offset == moved(edit.Site.Offset) && site.Pool != PoolGiven {
			t.Errorf("the capture has pool %q after the edit", site.Pool)
		}
	}
	if given != len(edit.Changes)-1 {
		t.Errorf("%d captures have the handle, want %d", given, len(edit.Changes)-1)
	}
	was := Scan(src)
	for i := range was.tokens {
		if was.is(int32(i), edit.Variable) {
			t.Errorf("the handle %q is not new", edit.Variable)
		}
	}
	// A second try finds nothing left to do at that line.
	if again, err := s.SharePool(s.lineOf(moved(edit.Site.Offset))); err == nil && again.Site.Offset == moved(edit.Site.Offset) {
		t.Errorf("the edit can be made twice:\n%s", after)
	}
}

func TestSharePoolRefuses(t *testing.T) {
	files, err := filepath.Glob("testdata/refuse/*.py")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[Reason]bool{ReasonUnreadable: true}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(src), "\n")
			want := Reason(strings.TrimPrefix(first, "# refuse: "))
			seen[want] = true
			for _, v := range variants[:4] {
				edit, err := SharePool(v.write(src), frameLine(src))
				var refusal Refusal
				if !errors.As(err, &refusal) {
					t.Fatalf("%s: not refused:\n%s", v.name, edit.Apply(v.write(src)))
				}
				if refusal.Reason != want {
					t.Errorf("%s: refused for %s, want %s", v.name, refusal.Reason, want)
				}
			}
		})
	}
	for reason, text := range reasonTexts {
		if !seen[reason] {
			t.Errorf("no file of testdata/refuse is refused for %s", reason)
		}
		if !strings.HasSuffix(Refusal{Reason: reason, Line: 7, Detail: "why"}.Error(), text+": why") {
			t.Errorf("%s has no text", reason)
		}
	}
}

func TestSharePoolRefusesBrokenSource(t *testing.T) {
	for _, src := range []string{
		"for x in y:\n    with torch.cuda.graph(a[x]):\n        f(x\n",
		"for x in y:\n    with torch.cuda.graph(a[x]):\n        f(']\n",
		"for x in y:\n    with torch.cuda.graph(a[x]:\n        f(x)\n",
		"for x in y:\n    with torch.cuda.graph(a[x]):\n      f(x)\n   f(x)\n",
		"for x in y:\n\twith torch.cuda.graph(a[x]):\n                f(x)\n        f(x)\n",
		"for x in y:\n    with torch.cuda.graph(a[x]):\nf(x)\n",
		"for x in y\n    with torch.cuda.graph(a[x]):\n        f(x)\n",
		"for x in y:\n    with torch.cuda.graph(a[x]):\n",
		"%time f()\n!ls\nfor x in y:\n    with torch.cuda.graph(a[x]):\n        f(x)\n",
		"f\x00\nfor x in y:\n    with torch.cuda.graph(a[x]):\n        f(x)\n",
		"\"\"\"\nfor x in y:\n    with torch.cuda.graph(a[x]):\n        f(x)\n",
		strings.Repeat("#", MaxSource+1),
	} {
		_, err := SharePool([]byte(src), 0)
		var refusal Refusal
		if !errors.As(err, &refusal) || refusal.Reason != ReasonUnreadable {
			t.Errorf("%.80q: %v", src, err)
		}
	}
}

// TestLineOutside asks for lines that are not there.
func TestLineOutside(t *testing.T) {
	src := []byte("\n\nfor x in y:\n    with torch.cuda.graph(a[x]):\n        f(x)\n\n\n")
	for _, line := range []int{-1, 1, 2, 6, 7, 8, 1 << 40} {
		_, err := SharePool(src, line)
		var refusal Refusal
		if !errors.As(err, &refusal) || refusal.Reason != ReasonNoSite {
			t.Errorf("line %d: %v", line, err)
		}
	}
	for _, line := range []int{0, 3, 4, 5} {
		if _, err := SharePool(src, line); err != nil {
			t.Errorf("line %d: %v", line, err)
		}
	}
}
