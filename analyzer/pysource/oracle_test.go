package pysource

import (
	"bufio"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	python     = flag.String("python", "python3", "the Python that the tests compare with")
	oracleDirs = flag.String("oracle", "", "comma separated folders to compare on, instead of the standard library without its tests")
)

// requirePython is the path of Python 3.10 or later, or skips the test.
func requirePython(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath(*python)
	if err != nil {
		t.Skipf("no Python to compare with: %v", err)
	}
	if out, err := exec.Command(path, "-c", "import sys; assert sys.version_info >= (3, 10)").CombinedOutput(); err != nil {
		t.Skipf("no Python 3.10 or later to compare with: %v %s", err, out)
	}
	return path
}

// seenCall is a call as both sides describe it.
type seenCall struct {
	end, line      int
	loop           bool
	function, path string
	args, keywords int
}

// TestAgainstAST compares every call found, its loop and its function with what
// Python's own parser sees, over the standard library and our test data.
func TestAgainstAST(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the standard library")
	}
	python := requirePython(t)
	files := pythonFiles(t, "testdata")
	for _, dir := range oracleFolders(t, python) {
		files = append(files, pythonFiles(t, dir)...)
	}
	cmd := exec.Command(python, "testdata/oracle.py")
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var counts oracleCounts
	var name string
	var want []seenCall
	var full []string
	flush := func() {
		if name != "" {
			counts.compare(t, name, want, full)
		}
		name, want, full = "", nil, nil
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "file "); ok {
			flush()
			name = rest
			continue
		}
		if strings.HasPrefix(line, "skip ") {
			flush()
			counts.skipped++
			continue
		}
		var c seenCall
		var loop int
		var path string
		if _, err := fmt.Sscan(line, &c.end, &c.line, &loop, &c.function, &c.path, &c.args, &c.keywords, &path); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		c.loop = loop == 1
		want, full = append(want, c), append(full, path)
	}
	flush()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files (%d left out: too large, or not readable by this Python), %d calls, %d sites; missing %d, extra %d, differing %d, unsound source %d",
		counts.files, counts.skipped, counts.calls, counts.sites, counts.missing, counts.extra, counts.differing, counts.problems)
	if counts.calls == 0 {
		t.Fatal("nothing was compared")
	}
	if bad := counts.missing + counts.extra + counts.differing + counts.problems; bad > 0 {
		t.Errorf("%d differences", bad)
	}
}

func oracleFolders(t *testing.T, python string) []string {
	if *oracleDirs != "" {
		return strings.Split(*oracleDirs, ",")
	}
	out, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{strings.TrimSpace(string(out))}
}

// pythonFiles are the Python files below dir. The tests and packages of a
// standard library are left out unless asked for with -oracle.
func pythonFiles(t *testing.T, dir string) []string {
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && *oracleDirs == "" && slices.Contains([]string{"test", "tests", "site-packages", "lib2to3", "idlelib"}, name) {
			return filepath.SkipDir
		}
		if entry.Type().IsRegular() && (strings.HasSuffix(name, ".py") || strings.HasSuffix(name, ".golden")) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

type oracleCounts struct {
	files, skipped, calls, sites        int
	missing, extra, differing, problems int
}

func (o *oracleCounts) compare(t *testing.T, file string, want []seenCall, full []string) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(src) > MaxSource {
		o.skipped++
		return
	}
	s := Scan(src)
	o.files++
	o.calls += len(want)
	report := func(count *int, format string, args ...any) {
		if *count++; *count <= 20 {
			t.Errorf("%s: %s", file, fmt.Sprintf(format, args...))
		}
	}
	if s.Problem != "" {
		report(&o.problems, "line %d: %s", s.ProblemLine, s.Problem)
	}
	got := map[int]seenCall{}
	for _, c := range s.calls {
		seen := s.describe(c)
		got[seen.end] = seen
	}
	sites := map[int]Site{}
	for _, site := range s.Sites {
		sites[s.tokens[site.call.name].end] = site
	}
	for i, w := range want {
		g, ok := got[w.end]
		delete(got, w.end)
		switch {
		case !ok:
			report(&o.missing, "line %d: %s is missing", w.line, w.path)
		case g != w:
			report(&o.differing, "\n got %+v\nwant %+v", g, w)
		}
		kind, isSite := sitePaths[full[i]]
		if strings.HasSuffix(w.path, ".capture_begin") && !strings.Contains(full[i], "warp") {
			kind, isSite = KindCaptureBegin, true
		}
		if strings.HasPrefix(filepath.Base(file), "shadow") {
			continue // the oracle knows no scopes
		}
		site, found := sites[w.end]
		if found {
			o.sites++
		}
		if found != isSite || found && (site.Kind != kind || (site.Loop != nil) != w.loop) {
			report(&o.differing, "line %d: site %v %s, want %v %s", w.line, found, site.Kind, isSite, kind)
		}
	}
	for _, g := range got {
		report(&o.extra, "line %d: %s is no call", g.line, g.path)
	}
}

// describe says of a call what the oracle prints.
func (s *Source) describe(c call) seenCall {
	end := s.tokens[c.name].end
	seen := seenCall{end: end, line: s.lineOf(end), loop: s.loopOf[c.name] >= 0, function: "-"}
	if f := s.functionOf(c.name); f != "" {
		seen.function = f
	}
	seen.path = s.joined(c.first, c.name+1)
	if !c.whole {
		seen.path = "?." + s.text(c.name)
	}
	args, _ := s.arguments(c.open)
	for _, arg := range args {
		if arg.Name != "" || arg.Stars == 2 {
			seen.keywords++
		} else {
			seen.args++
		}
	}
	return seen
}
