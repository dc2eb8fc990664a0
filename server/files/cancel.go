package files

import (
	"context"
	"io"
	"io/fs"
)

// readerAt is a reader that fails when ctx ends.
type readerAt struct {
	ctx context.Context
	io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (r readerAt) ReadAt(p []byte, offset int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, offset)
}

// folder is a file system that fails when ctx ends.
type folder struct {
	ctx context.Context
	fs.FS
}

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	file, err := f.FS.Open(name)
	if at, ok := file.(io.ReaderAt); ok && err == nil {
		return folderFile{file, readerAt{f.ctx, at}}, nil
	}
	return file, err
}

// ReadDir implements fs.ReadDirFS.
func (f folder) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.ReadDir(f.FS, name)
}

// folderFile is a file of a folder.
type folderFile struct {
	fs.File
	io.ReaderAt
}
