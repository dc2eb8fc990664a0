package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// logNames are the ends of names that are logs; names without a dot, such as
// torchrun's "stderr", count as well.
var logNames = []string{".log", ".out", ".err", ".txt", ".gz", ".zst", ".jsonl"}

// Folder returns the logs below a folder, in the order of their paths, and
// closes nothing: close gives them back. prefix is put in front of the paths in
// the report. It fails if the folder cannot be read or holds no log; notes say what
// was left out.
func Folder(fsys fs.FS, prefix string) (files []File, closeAll func(), notes []string, err error) {
	var opened []io.Closer
	closeAll = func() {
		for _, c := range opened {
			c.Close()
		}
	}
	left := 0
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s was not read: %v", path.Join(prefix, name), err))
			return nil
		}
		if entry.IsDir() {
			if strings.Count(name, "/") >= MaxDepth || name != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !isLog(name) {
			return nil
		}
		if len(files) == MaxFiles {
			left++
			return nil
		}
		f, closer, err := openFile(fsys, name)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s was not read: %v", path.Join(prefix, name), err))
			return nil
		}
		opened = append(opened, closer)
		f.Path = path.Join(prefix, name)
		id := identify(name)
		f.Origin, f.Attempt = id.origin, id.attempt
		files = append(files, f)
		return nil
	})
	switch {
	case err != nil:
		closeAll()
		return nil, nil, nil, fmt.Errorf("reading the folder %s: %w", prefix, err)
	case len(files) == 0:
		closeAll()
		return nil, nil, nil, fmt.Errorf("the folder %s holds no log (%s): give the log itself", prefix, strings.Join(logNames, ", "))
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d files behind the first %d were not read", left, MaxFiles))
	}
	return files, closeAll, notes, nil
}

func isLog(name string) bool {
	base := path.Base(name)
	if base == "error.json" || base == "stdout" || base == "stderr" || base == "log" {
		return true
	}
	return slices.ContainsFunc(logNames, func(end string) bool { return strings.HasSuffix(base, end) })
}

// errNotSeekable names what a file system must offer.
var errNotSeekable = errors.New("it cannot be read at any offset")

func openFile(fsys fs.FS, name string) (File, io.Closer, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return File{}, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return File{}, nil, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || !info.Mode().IsRegular() {
		f.Close()
		return File{}, nil, errNotSeekable
	}
	file := File{Data: at, Size: info.Size()}
	if path.Base(name) == "error.json" {
		file, err = errorFile(file)
	} else {
		if file, err = Decompress(file); err == nil {
			file, err = fromUTF16(file)
		}
	}
	if err != nil {
		f.Close()
		return File{}, nil, err
	}
	return file, f, nil
}

// maxErrorFile bounds torchrun's error files, in bytes.
const maxErrorFile = 16 << 20

// errorFile gives the traceback that torchrun's @record writes into error.json.
//
//	{"message": {"message": "RuntimeError: ...", "extraInfo": {"py_callstack": "Traceback ...", "timestamp": "1764302602"}}}
func errorFile(f File) (File, error) {
	if f.Size > maxErrorFile {
		return File{}, fmt.Errorf("it is longer than %d bytes", maxErrorFile)
	}
	raw := make([]byte, f.Size)
	if _, err := f.Data.ReadAt(raw, 0); err != nil && err != io.EOF {
		return File{}, err
	}
	var content struct {
		Message struct {
			Message   string
			ExtraInfo struct {
				Callstack string `json:"py_callstack"`
				Timestamp string `json:"timestamp"`
			}
		}
	}
	if err := json.Unmarshal(raw, &content); err != nil {
		return File{}, fmt.Errorf("it is no error file of torchrun: %w", err)
	}
	text := content.Message.ExtraInfo.Callstack
	if text == "" {
		text = content.Message.Message
	}
	return File{Data: strings.NewReader(text), Size: int64(len(text)), Time: epoch(content.Message.ExtraInfo.Timestamp)}, nil
}

// epoch reads seconds since 1970, as torchrun writes them.
func epoch(text string) *incident.Time {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds <= 0 {
		return nil
	}
	at := time.Unix(seconds, 0).UTC()
	return &incident.Time{Text: text, Clock: incident.Wall, Granularity: 1, At: &at}
}
