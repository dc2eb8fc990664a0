package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/graphtrap/graphtrap/analyzer/line"
)

// Raw is one raw line as it stands in the file.
type Raw struct {
	Line   int64
	Offset int64
	// Bytes are the line without its LF, cut at line.MaxText, and valid until
	// the next line is read.
	Bytes []byte
	// Length is the whole line's length, without its LF.
	Length int
}

// Walk reads the lines of the hits in order, and after each of them the lines
// that follow for as long as visit asks for more.
func Walk(ctx context.Context, data io.ReaderAt, size int64, hits []Hit, visit func(Raw) (more bool)) error {
	r := reader{data: data, size: size, buf: make([]byte, 0, 64<<10)}
	for i := 0; i < len(hits); {
		at := hits[i]
		for more := true; more && at.Offset < size; {
			if err := ctx.Err(); err != nil {
				return err
			}
			raw, next, err := r.line(at)
			if err != nil {
				return err
			}
			more = visit(raw)
			for i < len(hits) && hits[i].Offset < next {
				i++
			}
			at = Hit{Line: at.Line + 1, Offset: next}
			if i < len(hits) && hits[i].Offset == next {
				more = true
			}
		}
		for i < len(hits) && (hits[i].Offset < at.Offset || hits[i].Offset >= size) {
			i++
		}
	}
	return nil
}

// reader reads lines through one buffer that holds file[base:base+len(buf)].
type reader struct {
	data io.ReaderAt
	size int64
	base int64
	buf  []byte
}

// line reads the line at a place, and returns the offset of the line behind it.
func (r *reader) line(at Hit) (Raw, int64, error) {
	have, err := r.fill(at.Offset, 4<<10)
	if err != nil {
		return Raw{}, 0, err
	}
	end := bytes.IndexByte(have, '\n')
	if end < 0 {
		if have, err = r.fill(at.Offset, line.MaxText+1); err != nil {
			return Raw{}, 0, err
		}
		end = bytes.IndexByte(have, '\n')
	}
	if end >= 0 {
		return Raw{at.Line, at.Offset, have[:end], end}, at.Offset + int64(end) + 1, nil
	}
	text := bytes.Clone(have[:min(len(have), line.MaxText)])
	behind, next, err := r.skip(at.Offset + int64(len(have)))
	if err != nil {
		return Raw{}, 0, err
	}
	return Raw{at.Line, at.Offset, text, int(behind - at.Offset)}, next, nil
}

// skip returns the offset of the first LF from offset on, and of what follows
// it; both are the file's size if there is none.
func (r *reader) skip(offset int64) (end, next int64, err error) {
	for offset < r.size {
		have, err := r.fill(offset, 1)
		if err != nil {
			return 0, 0, err
		}
		if i := bytes.IndexByte(have, '\n'); i >= 0 {
			end = offset + int64(i)
			return end, end + 1, nil
		}
		offset += int64(len(have))
	}
	return r.size, r.size, nil
}

// fill returns what the buffer holds from offset on, at least want bytes unless
// the file ends.
func (r *reader) fill(offset int64, want int) ([]byte, error) {
	want = int(min(int64(want), r.size-offset))
	if offset >= r.base && offset+int64(want) <= r.base+int64(len(r.buf)) {
		return r.buf[offset-r.base:], nil
	}
	n := max(want, cap(r.buf))
	if cap(r.buf) < n {
		r.buf = make([]byte, 0, n)
	}
	n = int(min(int64(n), r.size-offset))
	got, err := readAt(r.data, r.buf[:n], offset)
	if got < want {
		return nil, fmt.Errorf("reading %d bytes at offset %d: %w", n, offset, err)
	}
	r.base, r.buf = offset, r.buf[:got]
	return r.buf, nil
}
