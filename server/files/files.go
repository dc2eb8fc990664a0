// Package files opens the logs that a user names by path: a file, a compressed
// file, several files, or a folder of per-rank files, as one incident. Its errors
// name the path and say what to do.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/graphtrap/graphtrap/analyzer/input"
)

// Opened are the files of one incident, open until Close.
type Opened struct {
	Files []input.File
	// Notes say what of a folder was left out, and why.
	Notes []string

	closers []func()
}

// Close closes all files.
func (o *Opened) Close() {
	for _, c := range o.closers {
		c()
	}
}

// Open opens the paths. A relative path starts from dir; the report names files as
// they were given. It fails early when ctx ends: finding out how long the text of
// compressed files is takes a while.
func Open(ctx context.Context, dir string, paths ...string) (*Opened, error) {
	o := &Opened{}
	for _, path := range paths {
		err := o.open(ctx, dir, path)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			o.Close()
			return nil, err
		}
	}
	return o, nil
}

func (o *Opened) open(ctx context.Context, dir, given string) error {
	path := given
	if !filepath.IsAbs(path) && dir != "" {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: check the path", given)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be read: check its permissions", given)
	case err != nil:
		return fmt.Errorf("%s cannot be read: %w", given, err)
	case info.IsDir():
		return o.folder(ctx, path, given)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: save what it gives to a file first, or use `graphtrap diagnose - < %s`", given, given)
	}
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s may not be read: check its permissions", given)
		}
		return fmt.Errorf("%s cannot be read: %w", given, err)
	}
	o.closers = append(o.closers, func() { f.Close() })
	file, err := input.Named(input.File{Path: filepath.ToSlash(given), Data: readerAt{ctx, f}, Size: info.Size()})
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", given, err)
	}
	if err := refuseBinary(file.Data, given); err != nil {
		return err
	}
	o.Files = append(o.Files, file)
	return nil
}

func (o *Opened) folder(ctx context.Context, path, given string) error {
	files, closeAll, notes, err := input.Folder(folder{ctx, os.DirFS(path)}, filepath.ToSlash(given))
	if err != nil {
		return err
	}
	o.closers = append(o.closers, closeAll)
	o.Files = append(o.Files, files...)
	o.Notes = append(o.Notes, notes...)
	return nil
}

// packed are the first bytes of files that hold a log in a form that is not read,
// and how to get at it.
var packed = []struct{ magic, what, todo string }{
	{"BZh", "a bzip2 file", "unpack it first: bzip2 -dk"},
	{"\xfd7zXZ", "an xz file", "unpack it first: xz -dk"},
	{"PK\x03\x04", "a zip file", "unpack it first: unzip"},
}

// refuseBinary refuses what is certainly no log. A few NUL bytes are none of that:
// a log that is truncated while it is written has a hole at its start.
func refuseBinary(f io.ReaderAt, path string) error {
	head := make([]byte, 8<<10)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s cannot be read: %w", path, err)
	}
	head = head[:n]
	for _, p := range packed {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return fmt.Errorf("%s is %s; %s %s", path, p.what, p.todo, path)
		}
	}
	text := bytes.TrimLeft(head, "\x00")
	odd := 0
	for _, c := range text {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != 0x1b && c != '\b' && c != '\f' {
			odd++
		}
	}
	if len(text) > 0 && odd*10 > len(text) {
		return fmt.Errorf("%s is binary: give the text that the job printed", path)
	}
	return nil
}
