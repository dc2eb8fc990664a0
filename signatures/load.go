package signatures

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed messages/*.toml all:failures
var embedded embed.FS

// Builtin loads the signatures that are part of the program.
func Builtin() (*Set, error) { return Load(embedded) }

// Load reads messages/*.toml and failures/*.toml of a file system and checks
// them. Everything that is wrong in any file is in the error, each with its
// file and line.
func Load(fsys fs.FS) (*Set, error) {
	l := &loader{set: &Set{origins: map[*Message]origin{}}, macros: newMacroTable()}
	l.each(fsys, "messages", l.messages)
	l.each(fsys, "failures", l.failure)
	l.finish()
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	return l.set, nil
}

// loader collects a set and everything that is wrong with it.
type loader struct {
	set     *Set
	macros  *macroTable
	anchors []anchor
	files   []*source // of the failures, in their order
	errs    []error
}

func (l *loader) errorf(s *source, line int, format string, args ...any) {
	l.errs = append(l.errs, s.errorf(line, format, args...))
}

// each reads the TOML files of a folder, in the order of their names. A folder
// that is not there is empty.
func (l *loader) each(fsys fs.FS, dir string, read func(*source, string)) {
	names, err := fs.Glob(fsys, dir+"/*.toml")
	if err != nil {
		l.errs = append(l.errs, err)
	}
	for _, name := range names {
		text, err := readFile(fsys, name)
		if err != nil {
			l.errs = append(l.errs, err)
			continue
		}
		src, err := newSource(name, text)
		if err != nil {
			l.errs = append(l.errs, err)
			continue
		}
		read(src, text)
	}
}

func readFile(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxFile {
		return "", fmt.Errorf("%s: larger than %d bytes: split it", name, maxFile)
	}
	return string(text), nil
}

// decode reads a file into a value and refuses keys that the value has not.
func (l *loader) decode(s *source, text string, into any) bool {
	meta, err := toml.Decode(text, into)
	if err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			l.errorf(s, syntax.Position.Line, "%s", syntax.Message)
		} else {
			l.typeError(s, err)
		}
		return false
	}
	ok := true
	seen := map[string]int{}
	for _, key := range meta.Undecoded() {
		nth := seen[key.String()]
		seen[key.String()]++
		if len(key) > 1 && seen[key[:len(key)-1].String()] > 0 {
			continue // its table is unknown, which is said already
		}
		l.errorf(s, s.lineOf(key, nth), "unknown key %q", key[len(key)-1])
		ok = false
	}
	return ok
}

// lastKey finds the key in the TOML library's error about a value's type. The
// line in that error is the last one where the key stands in any table.
var lastKey = regexp.MustCompile(`^toml: (?:line \d+ )?\(last key "([^"]*)"\): `)

// typeError reports a value of the wrong type, with its line if the key stands
// only once in the file.
func (l *loader) typeError(s *source, err error) {
	message := strings.TrimPrefix(err.Error(), "toml: ")
	line := 0
	if m := lastKey.FindStringSubmatch(err.Error()); m != nil {
		message = fmt.Sprintf("key %q: %s", m[1], err.Error()[len(m[0]):])
		key := strings.Split(m[1], ".")
		if s.lineOf(key, 1) == 0 {
			line = s.lineOf(key, 0)
		}
	}
	l.errorf(s, line, "%s", message)
}

// messages reads a file of messages.
func (l *loader) messages(s *source, text string) {
	var file struct {
		Message []*Message `toml:"message"`
	}
	if !l.decode(s, text, &file) {
		return
	}
	if len(file.Message) == 0 {
		l.errorf(s, 0, "no [[message]]: add one or remove the file")
	}
	for i, m := range file.Message {
		m.Program = strings.TrimSuffix(path.Base(s.path), ".toml")
		l.set.messages = append(l.set.messages, m)
		l.set.origins[m] = origin{s, i}
		l.checkMessage(m, origin{s, i})
	}
}

// failure reads a file with one failure.
func (l *loader) failure(s *source, text string) {
	f := new(Failure)
	if !l.decode(s, text, f) {
		return
	}
	l.set.failures = append(l.set.failures, f)
	l.files = append(l.files, s)
}

// finish checks what needs all files.
func (l *loader) finish() {
	for i, f := range l.set.failures {
		l.checkFailure(f, l.files[i])
	}
	l.set.anchors = newAnchorIndex(l.anchors)
}
