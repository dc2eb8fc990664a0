package input

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Paths say whose a file is; a rank in a person's folder name says nothing.
func TestIdentify(t *testing.T) {
	for path, want := range map[string]string{
		"job_x8/attempt_0/3/stderr.log":          "local 3, attempt 0, stream stderr",
		"node-2/none_abc/attempt_1/0/stdout.log": "local 0, attempt 1, stream stdout, host node-2",
		"job_x8/attempt_2/5/error.json":          "local 5, attempt 2",
		"20261128041322_rank3.log":               "rank 3",
		"rank_12.log":                            "rank 12",
		"rank-07/out.txt":                        "rank 7",
		"logs/global_rank_9.out":                 "rank 9",
		"slurm-4711_3.out":                       "rank 3",
		"slurm-4711.out":                         "",
		"trainer-worker-7.log":                   "host trainer-worker-7",
		"job-master-0/pytorch.log":               "host job-master-0",
		"train.log":                              "",
		"ranking.log":                            "",
		"franks3/x.log":                          "",
	} {
		id := identify(path)
		var got []string
		add := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
		if id.origin.Rank != nil {
			add("rank %d", *id.origin.Rank)
		}
		if id.origin.LocalRank != nil {
			add("local %d, attempt %d", *id.origin.LocalRank, id.attempt)
		}
		if id.origin.Stream != "" {
			add("stream %s", id.origin.Stream)
		}
		if id.origin.Host != "" && !strings.HasPrefix(path, "job_x8") {
			add("host %s", id.origin.Host)
		}
		if g := strings.Join(got, ", "); g != want {
			t.Errorf("%s: %q, want %q", path, g, want)
		}
	}
	if f, _ := Named(File{Path: "runs/rank0-baseline/train.log", Data: strings.NewReader(""), Size: 0}); f.Origin.Known() {
		t.Errorf("a folder that a person named gives %+v", f.Origin)
	}
}

func compressed(t *testing.T, kind string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if kind == "zstd" {
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Reads of compressed text give the same bytes in any order, also far back.
func TestDecompress(t *testing.T) {
	var text bytes.Buffer
	for i := range 1_500_000 { // longer than the window
		fmt.Fprintf(&text, "line %d of a log\n", i)
	}
	for _, kind := range []string{"gzip", "zstd"} {
		raw := compressed(t, kind, text.Bytes())
		f, err := Decompress(File{Path: "x", Data: bytes.NewReader(raw), Size: int64(len(raw))})
		if err != nil || f.Size != int64(text.Len()) {
			t.Fatalf("%s: size %d, want %d, %v", kind, f.Size, text.Len(), err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 40 {
			off := random.IntN(text.Len())
			if i%10 == 0 {
				off = i // far back
			}
			got := make([]byte, min(5000, text.Len()-off))
			if _, err := f.Data.ReadAt(got, int64(off)); err != nil || !bytes.Equal(got, text.Bytes()[off:off+len(got)]) {
				t.Fatalf("%s: other bytes at %d: %v", kind, off, err)
			}
		}
		if n, err := f.Data.ReadAt(make([]byte, 10), f.Size-4); n != 4 || err != io.EOF {
			t.Errorf("%s: %d bytes and %v at the end", kind, n, err)
		}
	}
}

// A file that was cut while it was written keeps what can be read.
func TestDecompressCut(t *testing.T) {
	text := bytes.Repeat([]byte("step 1 loss 2.0\n"), 200_000)
	raw := compressed(t, "gzip", text)
	raw = raw[:len(raw)*3/4]
	f, err := Decompress(File{Data: bytes.NewReader(raw), Size: int64(len(raw))})
	if err != nil || f.Size == 0 {
		t.Fatalf("size %d, %v", f.Size, err)
	}
	if _, err := Decompress(File{Data: bytes.NewReader(raw[:6]), Size: 6}); err == nil {
		t.Error("six bytes of a gzip file were read")
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("run_x/attempt_0/0/stderr.log", "a")
	write("run_x/attempt_0/1/error.json", `{"message": {"message": "ValueError: x", "extraInfo": {"py_callstack": "Traceback (most recent call last):\nValueError: x", "timestamp": "1"}}}`)
	write("run_x/attempt_0/2/error.json", `{broken`)
	write("notes.md", "not a log")
	write(".git/x.log", "hidden")
	files, closeAll, notes, err := Folder(os.DirFS(dir), "logs")
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	if got := strings.Join(names, " "); got != "logs/run_x/attempt_0/0/stderr.log logs/run_x/attempt_0/1/error.json" {
		t.Errorf("files %s", got)
	}
	text := make([]byte, files[1].Size)
	if _, err := files[1].Data.ReadAt(text, 0); err != nil && err != io.EOF || !strings.HasPrefix(string(text), "Traceback") {
		t.Errorf("error.json gives %q, %v", text, err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "attempt_0/2/error.json") {
		t.Errorf("notes %q do not name the broken file", notes)
	}
	empty := os.DirFS(t.TempDir())
	if _, _, _, err := Folder(empty, "void"); err == nil || !strings.Contains(err.Error(), "holds no log") {
		t.Errorf("an empty folder: %v", err)
	}
	var _ fs.FS = empty
}

// Hostile compressed data never panics.
func FuzzDecompress(f *testing.F) {
	f.Add([]byte{0x1f, 0x8b, 8, 0}, int64(0))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0}, int64(3))
	f.Fuzz(func(t *testing.T, raw []byte, off int64) {
		file, err := Named(File{Path: "x", Data: bytes.NewReader(raw), Size: int64(len(raw))})
		if err != nil || off < 0 || off > file.Size {
			return
		}
		if n, err := file.Data.ReadAt(make([]byte, 64), off); int64(n) != min(64, file.Size-off) && err == nil {
			t.Fatalf("%d bytes and no error at %d of %d", n, off, file.Size)
		}
	})
}
