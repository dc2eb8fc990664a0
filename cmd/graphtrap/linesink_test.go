package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// pausable is a file that may take its time.
type pausable struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *pausable) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func TestLineSinkWritesInOrder(t *testing.T) {
	var out pausable
	s := newLineSink(&out)
	line := make([]byte, 0, 16) // the logger uses its buffer again
	var want strings.Builder
	for i := range sinkLines / 2 {
		line = fmt.Appendf(line[:0], "line %d\n", i)
		want.Write(line)
		if _, err := s.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	s.flush()
	if got := out.text.String(); got != want.String() {
		t.Errorf("wrote %q, want %q", got, want.String())
	}
}

func TestLineSinkNeverWaits(t *testing.T) {
	var out pausable
	s := newLineSink(&out)
	out.mu.Lock() // nobody reads
	start := time.Now()
	for range 10 * sinkLines {
		_, _ = s.Write([]byte("x\n"))
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("logging took %v", took)
	}
	out.mu.Unlock()
	s.flush()
	text := out.text.String()
	if n := strings.Count(text, "x\n"); n < sinkLines || n > sinkLines+2 {
		t.Errorf("%d lines were written, want those that fit", n)
	}
	if !strings.Contains(text, `"log lines dropped"`) {
		t.Errorf("nothing says that lines were dropped")
	}
}
