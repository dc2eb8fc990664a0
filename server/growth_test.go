package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/server"
	"github.com/graphtrap/graphtrap/server/lsptest"
)

// appended is a change that puts text behind n whole lines.
func appended(lines int, text string) object {
	return object{"range": lsptest.Span(lines, 0, lines, 0), "text": text}
}

// TestAppendsLetTheAnalysisEnd: a log that is written to all the time would
// otherwise never be analysed.
func TestAppendsLetTheAnalysisEnd(t *testing.T) {
	g := newGate()
	c := session(t, server.Config{Analyze: g.analyze, Debounce: time.Millisecond})
	c.Open(logURI, "log", 1, "rank1 INITIATOR\n")
	g.await(t, "started", &g.started, 1)
	for v := 2; v <= 9; v++ {
		c.Change(logURI, v, appended(v-1, "more\n"))
		settle(c)
	}
	time.Sleep(50 * time.Millisecond)
	if started, cancelled := g.started.Load(), g.cancelled.Load(); started != 1 || cancelled != 0 {
		t.Errorf("%d analyses started and %d cancelled, want the first one to go on", started, cancelled)
	}
	close(g.open)
	c.Diagnostics(logURI, 9)
	if started := g.started.Load(); started != 2 {
		t.Errorf("%d analyses of 9 versions, want those of the first and the last", started)
	}
}

// settle waits until the server has read what was sent so far.
func settle(c *lsptest.Client) { hoverAt(c, "file:///none.log", 0, 0) }

// TestNothingFlickers: what was published stays until there is something newer.
func TestNothingFlickers(t *testing.T) {
	var hold sync.Mutex
	c := session(t, server.Config{Debounce: time.Millisecond, Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		hold.Lock()
		defer hold.Unlock()
		return fakeAnalysis(ctx, f, o)
	}})
	c.Open(logURI, "log", 1, "rank1 INITIATOR\n")
	c.Diagnostics(logURI, 1)
	for v := 2; v <= 20; v++ {
		hold.Lock()
		c.Change(logURI, v, appended(v-1, fmt.Sprintf("rank%d COLLATERAL waited\n", v)))
		settle(c)
		time.Sleep(3 * time.Millisecond)
		if n := len(c.Publications(logURI)); n != v-1 {
			t.Fatalf("%d publications while version %d is analysed, want %d", n, v, v-1)
		}
		hold.Unlock()
		if found := c.Diagnostics(logURI, int32(v)); len(found) != v {
			t.Fatalf("version %d: %d diagnostics", v, len(found))
		}
	}
}

// TestALogThatGrowsFasterThanItIsAnalysed is diagnosed all the same, after a while
// with what was true of the lines before, which are where they were.
func TestALogThatGrowsFasterThanItIsAnalysed(t *testing.T) {
	c := session(t, server.Config{Analyze: func(ctx context.Context, f []analyzer.File, o analyzer.Options) (*analyzer.Analysis, error) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
		return fakeAnalysis(ctx, f, o)
	}})
	c.Open(logURI, "log", 1, "rank1 INITIATOR\n")
	c.Diagnostics(logURI, 1)
	version := 1
	for limit := time.Now().Add(lsptest.Patience); len(c.Publications(logURI)) < 4; {
		version++
		c.Change(logURI, version, appended(version-1, "more\n"))
		if time.Now().After(limit) {
			t.Fatal("no diagnostics while it grows")
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.Diagnostics(logURI, int32(version))
	last := int32(0)
	for _, p := range c.Publications(logURI) {
		v, ok := p.Version.Get()
		if !ok || v <= last || len(p.Diagnostics) != 1 {
			t.Errorf("version %d behind version %d, with %d diagnostics", v, last, len(p.Diagnostics))
		}
		last = v
	}
	// A change before the end makes what was found before it worthless.
	c.Change(logURI, version+1, object{"range": lsptest.Span(0, 0, 0, 0), "text": "x\n"})
	c.Diagnostics(logURI, int32(version+1))
	for _, p := range c.Publications(logURI) {
		if v, _ := p.Version.Get(); v == int32(version+1) && p.Diagnostics[0].Range.Start.Line != 1 {
			t.Errorf("after a line was put before it, it stands on line %d", p.Diagnostics[0].Range.Start.Line)
		}
	}
}

// TestAGrownLogIsDiagnosedLikeAWholeOne, however it came to be; with the real
// analysis, which goes on from the version before.
func TestAGrownLogIsDiagnosedLikeAWholeOne(t *testing.T) {
	c := realSession(t, nil)
	text := growingLog(400 << 10)
	lines := strings.SplitAfter(text, "\n")
	const whole = "file:///w/whole.log"
	cut := len(lines) / 2
	c.Open(logURI, "log", 1, strings.Join(lines[:cut], ""))
	version := 1
	for cut < len(lines)-1 {
		next := min(cut+1+len(lines)/7, len(lines)-1)
		version++
		c.Change(logURI, version, appended(cut, strings.Join(lines[cut:next], "")))
		if cut = next; version%2 == 0 {
			c.Diagnostics(logURI, int32(version))
		}
	}
	// Twice a change near the start, which takes away what was kept, and back again.
	for _, insert := range []object{appended(3, "one more\n"), {"range": lsptest.Span(3, 0, 4, 0), "text": ""}} {
		version++
		c.Change(logURI, version, insert)
		c.Diagnostics(logURI, int32(version))
	}
	c.Open(whole, "log", 1, text)
	want, got := show(c.Diagnostics(whole, 1)), show(c.Diagnostics(logURI, int32(version)))
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(want, "rank 3 started it") {
		t.Errorf("whole: %s(-whole +grown):\n%s", want, diff)
	}
}

// growingLog is a run of eight ranks of about so many bytes, the last lines of which
// state a failure.
func growingLog(size int) string {
	var b strings.Builder
	for step := 0; b.Len() < size; step++ {
		fmt.Fprintf(&b, "[rank%d]: iteration %6d/ 500000 | elapsed time per iteration (ms): 812.4 | lm loss: %.6E | grad norm: 0.412\n", step%8, step/8, 3/float64(step+2))
		if step%64 == 0 {
			fmt.Fprintf(&b, "[rank%d]: [Rank %d] (after %d iterations) memory (MB) | allocated: 31013.5 | max allocated: 61013.5 | reserved: 64013.2\n", step%8, step%8, step/8)
		}
	}
	b.WriteString(captureLog)
	for rank := range 8 {
		if rank != 3 {
			fmt.Fprintf(&b, "[rank%d]:[E1128 04:23:21.120000001 ProcessGroupNCCL.cpp:629] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=52428800, NumelOut=52428800, Timeout(ms)=600000) ran for 600009 milliseconds before timing out.\n", rank, rank)
		}
	}
	return b.String()
}
