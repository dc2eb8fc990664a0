// Package stream frames messages as the language server protocol does: a header
// with Content-Length, a blank line, a body of JSON. Unlike the framers of the
// jsonrpc2 module it outlives whatever the other side sends: a malformed frame
// is answered with an error and skipped, and no header and no declared length
// makes it hold more than its limits.
package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

const (
	// MaxHeader bounds one header block.
	MaxHeader = 8 << 10
	// MaxBody bounds one body: a log of 50 MiB, with room for its escapes. Clients
	// send no larger documents; larger files are read by their path.
	MaxBody = 128 << 20
	// keepBuffer is what stays allocated between frames.
	keepBuffer = 1 << 20
	// maxSkip bounds the bodies that are skipped by their declared length. Above it
	// the length is not believed: the next header is looked for instead.
	maxSkip = 1 << 30
)

// Stream is a [jsonrpc2.Stream]. One goroutine reads, any may write.
type Stream struct {
	in   *bufio.Reader
	raw  io.Reader
	out  io.Writer
	body bytes.Buffer

	// Malformed, if set, is told of each frame that was skipped; why has no text of it.
	Malformed func(why string)

	mu    sync.Mutex // guards writes to out
	frame []byte

	ended   chan struct{}
	endOnce sync.Once
}

// New makes a stream that reads from in and writes to out.
func New(in io.Reader, out io.Writer) *Stream {
	return &Stream{in: bufio.NewReaderSize(in, MaxHeader), raw: in, out: out, ended: make(chan struct{})}
}

// Ended is closed when the stream can read or write no more.
func (s *Stream) Ended() <-chan struct{} { return s.ended }

func (s *Stream) end() { s.endOnce.Do(func() { close(s.ended) }) }

// Read implements [jsonrpc2.Stream].
func (s *Stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	frame, n, err := s.ReadFrame(ctx)
	if err != nil {
		return nil, 0, err
	}
	message, err := jsonrpc2.DecodeMessage(frame)
	return message, n, err
}

// ReadFrame returns the body of the next well-formed frame, valid until the next
// call. It fails only when the input ends.
func (s *Stream) ReadFrame(ctx context.Context) ([]byte, int64, error) {
	for {
		frame, err := s.next(ctx)
		if err == nil && frame != nil {
			_, bad := jsonrpc2.DecodeMessage(frame)
			if bad == nil {
				return frame, int64(len(frame)), nil
			}
			err = s.refuse(ctx, refusalOf(frame, bad))
		}
		if err != nil {
			s.end()
			return nil, 0, err
		}
	}
}

// refusal is what was wrong with a frame, and whether it is answered.
type refusal struct {
	id     jsonrpc2.ID
	err    *jsonrpc2.Error
	silent bool
}

// refuse tells of a frame that was skipped.
func (s *Stream) refuse(ctx context.Context, r refusal) error {
	if s.Malformed != nil {
		s.Malformed(r.err.Message)
	}
	if r.silent {
		return nil
	}
	_, err := s.WriteFrame(ctx, jsonrpc2.AppendResponse(nil, r.id, nil, r.err))
	return err
}

func (s *Stream) refuseParse(ctx context.Context, format string, args ...any) error {
	return s.refuse(ctx, refusal{err: jsonrpc2.Errorf(jsonrpc2.ParseError, format, args...)})
}

// next reads the body of one frame; nil stands for one that was refused.
func (s *Stream) next(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	length, err := s.header(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case length == 0:
		return nil, s.refuseParse(ctx, "empty message")
	case length > MaxBody:
		if err := s.refuseParse(ctx, "message of %d bytes is larger than the limit of %d; have large logs read by their path",
			length, MaxBody); err != nil {
			return nil, err
		}
		_, err := io.CopyN(io.Discard, s.in, length)
		return nil, cutShort(err)
	}
	if s.body.Cap() > keepBuffer && length <= keepBuffer {
		s.body = bytes.Buffer{}
	}
	s.body.Reset()
	// The buffer grows as bytes arrive: a declared length alone allocates nothing.
	if _, err := io.CopyN(&s.body, s.in, length); err != nil {
		return nil, cutShort(err)
	}
	return s.body.Bytes(), nil
}

// header reads a header block and returns the length that it declares. Where the
// block is no use, nobody knows where its body ends: the block is refused, and the
// next one is looked for.
func (s *Stream) header(ctx context.Context) (int64, error) {
	length, seen := int64(-1), 0
	for {
		line, err := s.in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !long {
			if seen == 0 && len(line) == 0 {
				return 0, err
			}
			return 0, cutShort(err)
		}
		field := bytes.TrimSpace(line)
		if len(field) == 0 && !long {
			switch {
			case seen == 0: // a stray blank line
				continue
			case length >= 0:
				return length, nil
			}
			return s.resynchronise(ctx, nil, "header without Content-Length")
		}
		seen += len(line)
		name, value, ok := bytes.Cut(field, []byte(":"))
		switch {
		case long, seen > MaxHeader:
			return s.resynchronise(ctx, nil, "header larger than the limit")
		case !ok || !isFieldName(name):
			return s.resynchronise(ctx, line, "header line that is no field")
		case bytes.EqualFold(name, []byte(contentLength)):
			if length, ok = parseLength(value); !ok {
				return s.resynchronise(ctx, nil, "Content-Length is not a usable number")
			}
		}
	}
}

const contentLength = "Content-Length"

func parseLength(value []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
	return n, err == nil && n >= 0 && n <= maxSkip
}

func isFieldName(name []byte) bool {
	for _, c := range name {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(name) > 0
}

// resynchronise refuses what stands at the input and reads, from line on, until a
// Content-Length at the end of a line, and the rest of that header block. JSON as
// clients write it has no line ends of its own, so that nothing inside a body can
// pass for a header.
func (s *Stream) resynchronise(ctx context.Context, line []byte, why string) (int64, error) {
	if err := s.refuseParse(ctx, "%s; skipped to the next message", why); err != nil {
		return 0, err
	}
	for {
		if length, ok := lengthAtEnd(line); ok {
			if ok, err := s.restOfHeader(); ok || err != nil {
				return length, err
			}
		}
		var err error
		if line, err = s.in.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, cutShort(err)
		}
	}
}

// lengthAtEnd reads the Content-Length that a line ends in, whatever stands before it.
func lengthAtEnd(line []byte) (int64, bool) {
	if !bytes.HasSuffix(line, []byte("\n")) {
		return 0, false
	}
	const longest = len(contentLength) + len(": 9223372036854775807 \r\n")
	line = line[max(0, len(line)-longest):]
	colon := bytes.LastIndexByte(line, ':')
	if colon < len(contentLength) || !bytes.EqualFold(line[colon-len(contentLength):colon], []byte(contentLength)) {
		return 0, false
	}
	return parseLength(line[colon+1:])
}

// restOfHeader reads up to the blank line; false when there is none in sight.
func (s *Stream) restOfHeader() (bool, error) {
	for total := 0; total <= MaxHeader; {
		line, err := s.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false, cutShort(err)
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			return true, nil
		}
		total += len(line)
	}
	return false, nil
}

// refusalOf says how a frame that is no message is answered. A response is never
// answered, lest two programs send each other errors for ever.
func refusalOf(frame []byte, bad error) refusal {
	code := jsonrpc2.ParseError
	var coded *jsonrpc2.Error
	if errors.As(bad, &coded) {
		code = coded.Code
	}
	r := refusal{err: jsonrpc2.Errorf(code, "malformed message of %d bytes", len(frame))}
	if bytes.HasPrefix(bytes.TrimLeft(frame, " \t\r\n"), []byte("[")) {
		r.err = jsonrpc2.NewError(jsonrpc2.InvalidRequest, "batches are not part of the language server protocol")
		return r
	}
	var envelope struct {
		ID     any             `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	d := json.NewDecoder(bytes.NewReader(frame))
	d.UseNumber()
	if len(frame) > keepBuffer || d.Decode(&envelope) != nil {
		return r
	}
	r.silent = envelope.Method == nil && (envelope.Result != nil || envelope.Error != nil)
	switch id := envelope.ID.(type) {
	case string:
		r.id = jsonrpc2.NewStringID(id)
	case json.Number:
		if n, err := id.Int64(); err == nil {
			r.id = jsonrpc2.NewNumberID(n)
		}
	}
	return r
}

// cutShort is the error of an input that ends inside a frame.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Write implements [jsonrpc2.Stream].
func (s *Stream) Write(ctx context.Context, m jsonrpc2.Message) (int64, error) {
	return s.WriteFrame(ctx, jsonrpc2.AppendMessage(nil, m))
}

// WriteFrame sends one body, in one write.
func (s *Stream) WriteFrame(ctx context.Context, body []byte) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame = fmt.Appendf(s.frame[:0], "Content-Length: %d\r\n\r\n", len(body))
	s.frame = append(s.frame, body...)
	n, err := s.out.Write(s.frame)
	if cap(s.frame) > keepBuffer {
		s.frame = nil
	}
	if err != nil {
		s.end()
	}
	return int64(n), err
}

// Close closes both ends that can be closed.
func (s *Stream) Close() error {
	s.end()
	var errs []error
	for _, v := range []any{s.raw, s.out} {
		if c, ok := v.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
