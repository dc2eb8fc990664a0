package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphtrap/graphtrap/server/stream"
)

func frame(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

const note = `{"jsonrpc":"2.0","method":"after"}`

// read returns the bodies that arrive, the error codes and ids that were
// answered, and the error at the end.
func read(t *testing.T, in io.Reader) (bodies, answers []string, end error) {
	t.Helper()
	var out bytes.Buffer
	s := stream.New(in, &out)
	for {
		body, _, err := s.ReadFrame(context.Background())
		if err != nil {
			end = err
			break
		}
		bodies = append(bodies, string(body))
	}
	select {
	case <-s.Ended():
	default:
		t.Error("the stream does not say that it ended")
	}
	back := stream.New(&out, io.Discard)
	for {
		body, _, err := back.ReadFrame(context.Background())
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("an answer is not framed: %v", err)
			}
			return bodies, answers, end
		}
		var answer struct {
			ID    any
			Error struct{ Code int }
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Errorf("answer %s: %v", body, err)
		}
		answers = append(answers, fmt.Sprint(answer.ID, " ", answer.Error.Code))
	}
}

func TestMalformedFramesAreAnsweredAndSkipped(t *testing.T) {
	tests := []struct {
		name, in string
		answers  []string
		lost     bool // the message after it is lost, too
	}{
		{"broken JSON", frame(`{"jsonrpc":`), []string{"<nil> -32700"}, false},
		{"no JSON", frame(`hello`), []string{"<nil> -32700"}, false},
		{"byte order mark", frame("\ufeff" + note), []string{"<nil> -32700"}, false},
		{"no version", frame(`{"id":1,"method":"x"}`), []string{"1 -32600"}, false},
		{"other version", frame(`{"jsonrpc":"1.0","id":"a","method":"x"}`), []string{"a -32600"}, false},
		{"fraction as id", frame(`{"jsonrpc":"2.0","id":1.5,"method":"x"}`), []string{"<nil> -32600"}, false},
		{"object as id", frame(`{"jsonrpc":"2.0","id":{},"method":"x"}`), []string{"<nil> -32600"}, false},
		{"method and result", frame(`{"jsonrpc":"2.0","id":3,"method":"x","result":1}`), []string{"3 -32600"}, false},
		{"result and error", frame(`{"jsonrpc":"2.0","id":3,"result":1,"error":{"code":1,"message":""}}`), nil, false},
		{"batch", frame(`[` + note + `]`), []string{"<nil> -32600"}, false},
		{"empty batch", frame(`[]`), []string{"<nil> -32600"}, false},
		{"blank lines before a header", "\r\n\n\r\n", nil, false},
		{"empty body", frame(""), []string{"<nil> -32700"}, false},
		{"negative length", "Content-Length: -5\r\n\r\n", []string{"<nil> -32700"}, false},
		{"length that is no number", "Content-Length: many\r\n\r\n{}", []string{"<nil> -32700"}, false},
		{"length above any number", "Content-Length: 99999999999999999999\r\n\r\n{}", []string{"<nil> -32700"}, false},
		{"length not to be believed", "Content-Length: 2000000000\r\n\r\n{}", []string{"<nil> -32700"}, false},
		{"no length", "Content-Type: x\r\n\r\n" + note, []string{"<nil> -32700"}, false},
		{"no header", "{}\r\n", []string{"<nil> -32700"}, false},
		{"endless header line", strings.Repeat("x", 5*stream.MaxHeader) + "\n", []string{"<nil> -32700"}, false},
		{"endless header", strings.Repeat("X-Field: y\r\n", 2000), []string{"<nil> -32700"}, false},
		{"body longer than declared", "Content-Length: 30\r\n\r\n" + note, []string{"<nil> -32700", "<nil> -32700"}, false},
		{"body shorter than declared", "Content-Length: 36\r\n\r\n" + note, []string{"<nil> -32700", "<nil> -32700"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bodies, answers, end := read(t, strings.NewReader(tt.in+frame(note)+frame(note+" ")))
			want := []string{note, note + " "}
			if tt.lost {
				want = want[1:]
			}
			if diff := cmp.Diff(want, bodies); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.answers, answers); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if !errors.Is(end, io.EOF) {
				t.Errorf("ended with %v, want EOF", end)
			}
		})
	}
}

func TestHeadersThatAreAccepted(t *testing.T) {
	body := fmt.Sprint(len(note))
	for _, header := range []string{
		"content-length: " + body + "\r\n\r\n",
		"Content-Length:" + body + "\n\n",
		"Content-Length: 1\r\nContent-Length: " + body + "\r\n\r\n",
		"Content-Type: application/vscode-jsonrpc; charset=latin-1\r\nContent-Length: " + body + "\r\n\r\n",
	} {
		bodies, answers, _ := read(t, strings.NewReader(header+note))
		if len(bodies) != 1 || len(answers) != 0 {
			t.Errorf("%q: %d messages, answers %v", header, len(bodies), answers)
		}
	}
}

func TestInputThatEndsInsideAFrame(t *testing.T) {
	for _, in := range []string{"Content-Len", "Content-Length: 5\r\n", "Content-Length: 5\r\n\r\n{}", "x"} {
		_, _, end := read(t, strings.NewReader(in))
		if !errors.Is(end, io.ErrUnexpectedEOF) {
			t.Errorf("%q: ended with %v, want an unexpected end", in, end)
		}
	}
}

// endless is an input that never ends a line, of a given length.
type endless struct{ left int }

var filling = bytes.Repeat([]byte("a"), 64<<10)

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, filling[:min(len(filling), e.left)])
	e.left -= n
	return n, nil
}

func TestMemoryIsBounded(t *testing.T) {
	tests := map[string]io.Reader{
		"endless header":   &endless{left: 64 << 20},
		"declared only":    strings.NewReader("Content-Length: 134217728\r\n\r\n{}"),
		"above the limit":  io.MultiReader(strings.NewReader("Content-Length: 157286400\r\n\r\n"), &endless{left: 150 << 20}),
		"above all limits": io.MultiReader(strings.NewReader("Content-Length: 9999999999\r\n\r\n"), &endless{left: 150 << 20}),
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			read(t, in)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
				t.Errorf("%d MiB were allocated", used>>20)
			}
		})
	}
}

func TestALargeBufferIsGivenUp(t *testing.T) {
	large := frame(`{"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("a", 20<<20) + `"}`)
	s := stream.New(strings.NewReader(large+frame(note)), io.Discard)
	inUse := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	var after [2]uint64
	for i := range after {
		if _, _, err := s.ReadFrame(context.Background()); err != nil {
			t.Fatal(err)
		}
		after[i] = inUse()
	}
	if after[1]+20<<20 > after[0] {
		t.Errorf("%d MiB are in use after a large message, %d MiB after a small one", after[0]>>20, after[1]>>20)
	}
	runtime.KeepAlive(s)
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte(frame(note)))
	f.Add([]byte("Content-Length: 3\r\n\r\nContent-Length: 2\r\n\r\n{}"))
	f.Add([]byte("{}Content-Length: 2\r\nX: y\r\n\r\n{}\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		bodies, _, end := read(t, io.MultiReader(bytes.NewReader(in), strings.NewReader("\r\n\r\n"+frame(note))))
		if end == nil {
			t.Fatal("no end")
		}
		for _, body := range bodies {
			if !json.Valid([]byte(body)) && !strings.Contains(body, "{") {
				t.Fatalf("%q is no message", body)
			}
		}
	})
}
