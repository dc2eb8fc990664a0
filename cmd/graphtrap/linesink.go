package main

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

const (
	sinkLines = 256             // lines that wait to be written
	sinkFlush = 2 * time.Second // the longest wait for them at the end
)

// lineSink writes lines from a goroutine of its own, so that logging never waits:
// an editor that does not read the server's standard error would stop it. Lines
// that do not fit are dropped and counted. It is a zapcore.WriteSyncer.
type lineSink struct {
	lines   chan []byte
	dropped atomic.Int64
	stop    chan struct{}
	done    chan struct{}
}

func newLineSink(w io.Writer) *lineSink {
	s := &lineSink{lines: make(chan []byte, sinkLines), stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for {
			select {
			case line := <-s.lines:
				s.write(w, line)
				continue
			default:
			}
			select {
			case line := <-s.lines:
				s.write(w, line)
			case <-s.stop:
				return
			}
		}
	}()
	return s
}

func (s *lineSink) write(w io.Writer, line []byte) {
	if n := s.dropped.Swap(0); n > 0 {
		fmt.Fprintf(w, "{\"level\":\"warn\",\"msg\":\"log lines dropped\",\"lines\":%d}\n", n)
	}
	_, _ = w.Write(line) // there is nowhere to report it
}

// Write implements io.Writer.
func (s *lineSink) Write(p []byte) (int, error) {
	select {
	case s.lines <- bytes.Clone(p):
	default:
		s.dropped.Add(1)
	}
	return len(p), nil
}

// Sync implements zapcore.WriteSyncer. There is nothing to wait for.
func (s *lineSink) Sync() error { return nil }

// flush waits until what was logged is written, if that goes on at all.
func (s *lineSink) flush() {
	close(s.stop)
	select {
	case <-s.done:
	case <-time.After(sinkFlush):
	}
}
