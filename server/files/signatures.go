package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/graphtrap/graphtrap/signatures"
)

// maxSignatureFiles bounds the signature files of a user's folder.
const maxSignatureFiles = 1000

// Signatures loads the built-in signatures together with those of a folder, which
// has the same shape: messages/*.toml, failures/*.toml and codes/*.toml. A file may not have the
// name of a built-in one, nor define an id that is taken. Everything that is wrong is in the
// error, each with its file and line.
func Signatures(folder string) (*signatures.Set, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", folder, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", folder)
	}
	both := beside{signatures.Files(), os.DirFS(folder)}
	found := 0
	var wrong []error
	for _, dir := range []string{"messages", "failures", "codes"} {
		names, err := fs.Glob(both.users, dir+"/*.toml")
		if err != nil {
			return nil, err
		}
		found += len(names)
		for _, name := range names {
			if _, err := fs.Stat(both.builtin, name); err == nil {
				wrong = append(wrong, fmt.Errorf("%s: a built-in file has this name: choose another", name))
			}
		}
	}
	switch {
	case found == 0:
		wrong = append(wrong, errors.New("it holds no messages/*.toml, failures/*.toml or codes/*.toml"))
	case found > maxSignatureFiles:
		wrong = append(wrong, fmt.Errorf("it holds more than %d files", maxSignatureFiles))
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return signatures.Load(both)
}

// beside is the built-in files followed by the user's. The order matters: of two
// things with one id, the second is told to be wrong.
type beside struct{ builtin, users fs.FS }

// Open implements fs.FS.
func (b beside) Open(name string) (fs.File, error) {
	f, err := b.builtin.Open(name)
	if err == nil {
		return f, nil
	}
	return b.users.Open(name)
}

// ReadDir implements fs.ReadDirFS.
func (b beside) ReadDir(name string) ([]fs.DirEntry, error) {
	first, err := fs.ReadDir(b.builtin, name)
	if err != nil {
		return nil, err
	}
	second, err := fs.ReadDir(b.users, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	second = slices.DeleteFunc(second, func(e fs.DirEntry) bool { return path.Ext(e.Name()) != ".toml" })
	return append(first, second...), nil
}
