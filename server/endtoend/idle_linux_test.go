package endtoend_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/graphtrap/graphtrap/server/lsptest"
)

// wakeups counts how often the threads of a process have been given a processor,
// and the time that they spent on it, in clock ticks.
func wakeups(t *testing.T, pid int) (switches, ticks int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("no threads of process %d: %v", pid, err)
	}
	for _, path := range threads {
		f, err := os.Open(path)
		if err != nil {
			continue // the thread has ended
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if name, value, _ := strings.Cut(lines.Text(), ":"); strings.HasSuffix(name, "ctxt_switches") {
				n, err := strconv.Atoi(strings.TrimSpace(value))
				if err != nil {
					t.Fatal(err)
				}
				switches += n
			}
		}
		f.Close()
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, i := range []int{11, 12} { // utime, stime
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return switches, ticks
}

// TestAnIdleServerSleeps: between two messages it has nothing to do, and no clock
// wakes it. It is watched by its parent's handle, its settings are known, and a log
// is open and was hovered over.
func TestAnIdleServerSleeps(t *testing.T) {
	for name, change := range map[string]func(object){"pushes": nil, "pulled from": lsptest.Pull} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, "--parent-pid", strconv.Itoa(os.Getpid()))
			c.Initialize("", change)
			const uri = "file:///w/train.log"
			c.Open(uri, "log", 1, "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/a.py\", line 1, in f\n[rank0]: ValueError: x\n")
			document := object{"textDocument": object{"uri": uri}, "position": object{"line": 2, "character": 12}}
			c.Call("textDocument/hover", document, nil)
			if change != nil {
				// This one is never answered while nothing changes.
				c.Start("workspace/diagnostic", object{"partialResultToken": "t", "previousResultIds": []object{}})
				c.Notification("$/progress", 1)
				var first struct {
					ResultID string `json:"resultId"`
				}
				c.Call("textDocument/diagnostic", document, &first)
				c.Start("workspace/diagnostic", object{"partialResultToken": "u", "previousResultIds": []object{{"uri": uri, "value": first.ResultID}}})
			}
			pid := c.Process().Pid
			// The runtime gives memory back for a while; then there must be peace.
			quiet, limit := 0, time.Now().Add(lsptest.Patience)
			for last, ticks := wakeups(t, pid); quiet < 3; {
				time.Sleep(time.Second)
				now, nowTicks := wakeups(t, pid)
				if now == last && nowTicks == ticks {
					quiet++
				} else {
					quiet = 0
				}
				if time.Now().After(limit) {
					t.Fatalf("it still wakes up: %d times in the last second", now-last)
				}
				last, ticks = now, nowTicks
			}
			c.Shutdown()
		})
	}
}
