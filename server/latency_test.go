package server_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// BenchmarkLatency measures what a user waits for on logs of 1, 10 and 40 MB: from a
// line that is appended, or a character that is typed in the middle, to the diagnostics
// of that version, with the real analysis and without the pause for typing,
// [server.DefaultDebounce], that comes on top; and the answer to a hover on the line
// that states the failure. The percentiles are in milliseconds.
func BenchmarkLatency(b *testing.B) {
	for _, size := range []int{1, 10, 40} {
		b.Run(fmt.Sprintf("%dMB", size), func(b *testing.B) {
			text := grown(b, size*1e6)
			last := strings.Count(text, "\n")
			c, _ := lsptest.Run(b, func(in io.Reader, out io.Writer) int {
				return server.New(server.Config{Debounce: time.Nanosecond}).Serve(context.Background(), in, out)
			})
			// An editor that ends lines at LF, as this test does.
			c.Initialize("", func(p object) { lsptest.Set(p, "Neovim", "clientInfo", "name") })
			b.Cleanup(c.Shutdown)
			c.Open(logURI, "log", 1, text)
			failing := stated(b, c.Diagnostics(logURI, 1))
			version := 1
			change := func(b *testing.B, at int, text string) {
				var took []time.Duration
				for b.Loop() {
					version++
					start := time.Now()
					c.Change(logURI, version, object{"range": lsptest.Span(at, 0, at, 0), "text": text})
					// One publication for each version: the nth is of version n.
					c.Notification("textDocument/publishDiagnostics", version)
					took = append(took, time.Since(start))
					at += strings.Count(text, "\n")
				}
				percentiles(b, took)
			}
			b.Run("append", func(b *testing.B) {
				change(b, last, "[rank3]: 2026-11-28 04:40:00,000 | INFO | train.py:12 | step 12\n")
			})
			b.Run("edit", func(b *testing.B) { change(b, last/2, "x") })
			if got := stated(b, c.Diagnostics(logURI, int32(version))); got != failing {
				b.Errorf("the failure is on line %d, was on %d", got, failing)
			}
			b.Run("hover", func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					if hoverAt(c, logURI, failing, 20) == nil {
						b.Fatal("no hover")
					}
					took = append(took, time.Since(start))
				}
				percentiles(b, took)
			})
		})
	}
}

// grown is the log of 64 ranks with its healthy part repeated, so that the failure
// ends a log of about this size.
func grown(b *testing.B, size int) string {
	b.Helper()
	whole, err := os.ReadFile("../testdata/cases/sixty-four-ranks/train.log")
	if err != nil {
		b.Fatal(err)
	}
	healthy, failure, ok := strings.Cut(string(whole), "[rank17]: Traceback")
	if !ok {
		b.Fatal("the log has no failure")
	}
	failure = "[rank17]: Traceback" + failure
	var text strings.Builder
	for text.Len()+len(failure) < size {
		part := healthy
		if room := size - text.Len() - len(failure); room < len(part) {
			part = part[:strings.LastIndexByte(part[:room], '\n')+1]
			if part == "" {
				break
			}
		}
		text.WriteString(part)
	}
	text.WriteString(failure)
	return text.String()
}

// stated is the line of the one error or warning.
func stated(b *testing.B, found []protocol.Diagnostic) int {
	b.Helper()
	i := slices.IndexFunc(found, func(d protocol.Diagnostic) bool { return d.Severity <= protocol.DiagnosticSeverityWarning })
	if i < 0 {
		b.Fatalf("no failure among %d diagnostics", len(found))
	}
	return int(found[i].Range.Start.Line)
}

func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	for _, p := range []int{50, 95} {
		at := (len(took)*p + 99) / 100
		b.ReportMetric(float64(took[max(at, 1)-1].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
}
