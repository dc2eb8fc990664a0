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
	"sync"

	"github.com/BurntSushi/toml"
)

//go:embed messages/*.toml failures/*.toml codes/*.toml
var embedded embed.FS

// Files returns the files of the signatures that are part of the program.
func Files() fs.FS { return embedded }

// Builtin loads the signatures that are part of the program. The tests have
// checked them, so this only reads them.
func Builtin() (*Set, error) {
	s, _, errs := read(embedded)
	return s, errors.Join(errs...)
}

// Load reads messages/*.toml, failures/*.toml and codes/*.toml of a file system and
// checks them. Everything that is wrong in any file is in the error, each with its
// file and line.
func Load(fsys fs.FS) (*Set, error) {
	s, files, errs := read(fsys)
	errs = append(errs, check(s, files)...)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// file is what one signature file holds: messages, a failure, or codes.
type file struct {
	path     string
	source   *source
	messages []*Message
	failure  *Failure
	codes    *Codes
	errs     []error
}

// read decodes all files at once and puts what they hold in the order of their
// names. A folder that is not there is empty.
func read(fsys fs.FS) (*Set, []*file, []error) {
	var files []*file
	var errs []error
	for _, dir := range []string{"messages", "failures", "codes"} {
		names, err := fs.Glob(fsys, dir+"/*.toml")
		if err != nil {
			errs = append(errs, err)
		}
		for _, name := range names {
			files = append(files, &file{path: name})
		}
	}
	var wg sync.WaitGroup
	for _, f := range files {
		wg.Go(func() { f.decode(fsys) })
	}
	wg.Wait()

	s := newSet()
	for _, f := range files {
		errs = append(errs, f.errs...)
		for i, m := range f.messages {
			s.addMessage(m, origin{f.source, i})
		}
		if f.failure != nil {
			s.failures = append(s.failures, f.failure)
		}
		if f.codes != nil {
			s.addCodes(f.codes)
		}
	}
	s.anchors = newAnchorIndex(s.messages)
	return s, files, errs
}

// decode reads the file.
func (f *file) decode(fsys fs.FS) {
	text, err := readFile(fsys, f.path)
	if err != nil {
		f.errs = append(f.errs, err)
		return
	}
	if f.source, err = newSource(f.path, text); err != nil {
		f.errs = append(f.errs, err)
		return
	}
	if strings.HasPrefix(f.path, "failures/") {
		f.failure = new(Failure)
		f.decodeInto(text, f.failure)
		return
	}
	if strings.HasPrefix(f.path, "codes/") {
		f.codes = new(Codes)
		f.decodeInto(text, f.codes)
		return
	}
	var table struct {
		Message []*Message `toml:"message"`
	}
	f.decodeInto(text, &table)
	if len(f.errs) > 0 {
		return
	}
	if len(table.Message) == 0 {
		f.errs = append(f.errs, f.source.errorf(0, "no [[message]]: add one or remove the file"))
	}
	for _, m := range table.Message {
		m.Program = strings.TrimSuffix(path.Base(f.path), ".toml")
	}
	f.messages = table.Message
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

// decodeInto decodes the text into a value and refuses keys that it has not.
func (f *file) decodeInto(text string, value any) {
	meta, err := toml.Decode(text, value)
	if err != nil {
		f.errs = append(f.errs, f.source.decodeError(err))
		f.failure, f.codes = nil, nil
		return
	}
	seen := map[string]int{}
	for _, key := range meta.Undecoded() {
		nth := seen[key.String()]
		seen[key.String()]++
		if len(key) > 1 && seen[key[:len(key)-1].String()] > 0 {
			continue // its table is unknown, which is said already
		}
		f.errs = append(f.errs, f.source.errorf(f.source.lineOf(key, nth), "unknown key %q", key[len(key)-1]))
	}
}

// lastKey finds the key in the TOML library's error about a value's type. The
// line in that error is the last one where the key stands in any table.
var lastKey = regexp.MustCompile(`^toml: (?:line \d+ )?\(last key "([^"]*)"\): `)

// decodeError gives an error of the TOML library its file and line. A value of
// the wrong type has a line only if its key stands once in the file.
func (s *source) decodeError(err error) error {
	var syntax toml.ParseError
	if errors.As(err, &syntax) {
		return s.errorf(syntax.Position.Line, "%s", syntax.Message)
	}
	m := lastKey.FindStringSubmatch(err.Error())
	if m == nil {
		return s.errorf(0, "%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	line, key := 0, strings.Split(m[1], ".")
	if s.lineOf(key, 1) == 0 {
		line = s.lineOf(key, 0)
	}
	return s.errorf(line, "key %q: %s", m[1], err.Error()[len(m[0]):])
}
