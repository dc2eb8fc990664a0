package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.lsp.dev/protocol"
	"go.uber.org/zap/zapcore"
)

// maxLogLines bounds the lines of the log that wait to be sent to the client.
const maxLogLines = 128

// maxLogText bounds one text of a line, in bytes.
const maxLogText = 300

// logTexts are the fields whose text goes to the client. What is not among them
// may hold text of a document, as errors of a decoder do: it is in the server's
// own log only.
var logTexts = []string{"client", "client version", "encoding", "go", "in", "kind", "method", "platform", "token", "uri", "version", "why"}

// clientLog sends the server's log to the client, as window/logMessage, and its
// traces, as $/logTrace. It is the end of a [zapcore.Core]: writing to it never
// waits. Lines that do not fit are counted, and told of with the next one.
type clientLog struct {
	lines chan logLine
	lost  atomic.Int64
	// open is closed when the client has said initialized: nothing goes out before.
	open     chan struct{}
	openOnce sync.Once
	// trace is what $/setTrace asked for.
	trace atomic.Value // protocol.TraceValue
}

// logLine is one message to the client: a line of the log, or a trace.
type logLine struct {
	kind protocol.MessageType // 0 for a trace
	text string
	// verbose is the part of a trace that only a verbose one has.
	verbose string
}

func newClientLog() *clientLog {
	l := &clientLog{lines: make(chan logLine, maxLogLines), open: make(chan struct{})}
	l.trace.Store(protocol.TraceValueOff)
	return l
}

// start lets lines go out.
func (l *clientLog) start() { l.openOnce.Do(func() { close(l.open) }) }

// put queues a line.
func (l *clientLog) put(line logLine) {
	select {
	case l.lines <- line:
	default:
		l.lost.Add(1)
	}
}

// run sends until ctx ends.
func (l *clientLog) run(ctx context.Context, client protocol.Client) {
	select {
	case <-l.open:
	case <-ctx.Done():
		return
	}
	for {
		var line logLine
		select {
		case line = <-l.lines:
		case <-ctx.Done():
			return
		}
		if n := l.lost.Swap(0); n > 0 {
			lost := logLine{kind: protocol.MessageTypeWarning, text: fmt.Sprintf("%d lines of the log were dropped: the editor was slow to read them", n)}
			l.send(ctx, client, lost)
		}
		l.send(ctx, client, line)
	}
}

// send writes one message. There is nowhere to tell that it could not be written.
func (l *clientLog) send(ctx context.Context, client protocol.Client, line logLine) {
	if line.kind != 0 {
		_ = client.LogMessage(ctx, &protocol.LogMessageParams{Type: line.kind, Message: line.text})
		return
	}
	p := &protocol.LogTraceParams{Message: line.text}
	switch l.trace.Load() {
	case protocol.TraceValueOff:
		return // turned off meanwhile
	case protocol.TraceValueVerbose:
		p.Verbose = &line.verbose
	}
	_ = client.LogTrace(ctx, p)
}

// tracing reports whether the client wants to know of each message.
func (l *clientLog) tracing() bool { return l.trace.Load() != protocol.TraceValueOff }

// core is the zap core of a clientLog, with the fields that were added to a logger.
type clientLogCore struct {
	log    *clientLog
	fields []zapcore.Field
}

// Enabled implements zapcore.LevelEnabler. The debug level may have text of
// documents, so it never gets here.
func (c clientLogCore) Enabled(level zapcore.Level) bool { return level >= zapcore.InfoLevel }

// With implements zapcore.Core.
func (c clientLogCore) With(fields []zapcore.Field) zapcore.Core {
	return clientLogCore{c.log, append(slices.Clip(c.fields), fields...)}
}

// Check implements zapcore.Core.
func (c clientLogCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return checked.AddCore(e, c)
	}
	return checked
}

// Write implements zapcore.Core.
func (c clientLogCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	var b strings.Builder
	b.WriteString(clipText(e.Message))
	first := true
	for _, f := range append(slices.Clip(c.fields), fields...) {
		value, ok := safeText(f)
		if !ok || value == "" {
			continue
		}
		separator := ", "
		if first {
			separator, first = ": ", false
		}
		fmt.Fprintf(&b, "%s%s %s", separator, f.Key, value)
	}
	kind := protocol.MessageTypeInfo
	switch {
	case e.Level >= zapcore.ErrorLevel:
		kind = protocol.MessageTypeError
	case e.Level >= zapcore.WarnLevel:
		kind = protocol.MessageTypeWarning
	}
	c.log.put(logLine{kind: kind, text: b.String()})
	return nil
}

// Sync implements zapcore.Core. Nothing waits for the client.
func (c clientLogCore) Sync() error { return nil }

// safeText is the value of a field that cannot hold text of a document.
func safeText(f zapcore.Field) (string, bool) {
	switch f.Type {
	case zapcore.Int64Type, zapcore.Int32Type, zapcore.Int16Type, zapcore.Int8Type,
		zapcore.Uint64Type, zapcore.Uint32Type, zapcore.Uint16Type, zapcore.Uint8Type,
		zapcore.BoolType, zapcore.DurationType:
		encoder := zapcore.NewMapObjectEncoder()
		f.AddTo(encoder)
		return fmt.Sprint(encoder.Fields[f.Key]), true
	case zapcore.StringType, zapcore.StringerType:
		if !slices.Contains(logTexts, f.Key) {
			return "", false
		}
		encoder := zapcore.NewMapObjectEncoder()
		f.AddTo(encoder)
		return clipText(fmt.Sprint(encoder.Fields[f.Key])), true
	}
	return "", false
}

func clipText(s string) string {
	if len(s) <= maxLogText {
		return s
	}
	return strings.ToValidUTF8(s[:maxLogText], "") + "..."
}
