package input

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// decoder opens a compressed stream from its start.
type decoder func(io.Reader) (io.ReadCloser, error)

var decoders = []struct {
	magic []byte
	open  decoder
}{
	{[]byte{0x1f, 0x8b}, func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{[]byte{0x28, 0xb5, 0x2f, 0xfd}, func(r io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}},
}

// MaxDecompressed bounds the text of a compressed log, in bytes.
const MaxDecompressed = 64 << 30

// Named reads what a file's own path says of it, and its text if it is compressed
// or not UTF-8. It fails like [Decompress].
func Named(f File) (File, error) {
	// Of the folders above a file that was named alone only torchrun's own say
	// something: "runs/rank0-baseline/" is a person's.
	path := f.Path
	if !torchrunFile.MatchString(path) && !torchrunJSON.MatchString(path) {
		path = path[strings.LastIndexAny(path, `/\`)+1:]
	}
	id := identify(path)
	f.Origin, f.Attempt = id.origin, id.attempt
	f, err := Decompress(f)
	if err != nil {
		return File{}, err
	}
	return fromUTF16(f)
}

// Decompress gives the text of a gzip or zstd file, told by its first bytes; any
// other file is returned as it is. The text is not kept: it is decoded again for
// each pass over it, so that memory does not grow with its length. It fails if the
// file is damaged before its first byte of text; damage further on ends the text
// there.
func Decompress(f File) (File, error) {
	head := make([]byte, 4)
	n, err := f.Data.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return File{}, err
	}
	for _, d := range decoders {
		if !bytes.HasPrefix(head[:n], d.magic) {
			continue
		}
		s := &stream{raw: f.Data, rawSize: f.Size, open: d.open}
		size, err := s.length()
		if err != nil {
			return File{}, fmt.Errorf("decompressing it: %w", err)
		}
		f.Data, f.Size = s, size
		return f, nil
	}
	return f, nil
}

// window is how much decoded text is kept for reads that go back a little:
// chunks of a scan are read by several workers, almost in order.
const window = 16 << 20

// stream reads compressed text at any offset. Going forward is decoding on; going
// back beyond the window is decoding again from the start.
type stream struct {
	raw     io.ReaderAt
	rawSize int64
	open    decoder

	mu   sync.Mutex // guards what follows
	r    io.ReadCloser
	buf  []byte
	base int64 // of buf in the text
	err  error // met at base+len(buf)
}

func (s *stream) restart() error {
	if s.r != nil {
		s.r.Close()
	}
	r, err := s.open(io.NewSectionReader(s.raw, 0, s.rawSize))
	if err != nil {
		return err
	}
	s.r, s.buf, s.base, s.err = r, s.buf[:0], 0, nil
	return nil
}

// length decodes the whole text once.
func (s *stream) length() (int64, error) {
	r, err := s.open(io.NewSectionReader(s.raw, 0, s.rawSize))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(r, MaxDecompressed))
	if err != nil && n == 0 {
		return 0, err
	}
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (s *stream) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.r == nil || off < s.base {
		if err := s.restart(); err != nil {
			return 0, err
		}
	}
	for s.err == nil && s.base+int64(len(s.buf)) < off+int64(len(p)) {
		s.more(off)
	}
	have := s.base + int64(len(s.buf)) - off
	if have <= 0 {
		return 0, s.end()
	}
	n := copy(p, s.buf[off-s.base:])
	if n < len(p) {
		return n, s.end()
	}
	return n, nil
}

func (s *stream) end() error {
	if s.err == nil || s.err == io.ErrUnexpectedEOF {
		return io.EOF
	}
	return s.err
}

// more decodes the next stretch, and lets go of what lies a window before off.
func (s *stream) more(off int64) {
	const step = 1 << 20
	if drop := off - window - s.base; drop > step && drop <= int64(len(s.buf)) {
		s.buf = append(s.buf[:0], s.buf[drop:]...)
		s.base += drop
	} else if drop > int64(len(s.buf)) {
		s.base += int64(len(s.buf))
		s.buf = s.buf[:0]
	}
	start := len(s.buf)
	s.buf = append(s.buf, make([]byte, step)...)
	n, err := io.ReadFull(s.r, s.buf[start:])
	s.buf = s.buf[:start+n]
	if err != nil {
		s.err = err
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			s.err = io.EOF
		}
	}
}
