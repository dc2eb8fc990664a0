package parent_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/graphtrap/graphtrap/server/parent"
)

// TestMain lets the test program be the process that is watched.
func TestMain(m *testing.M) {
	if os.Getenv("GRAPHTRAP_TEST_WAIT") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	os.Exit(m.Run())
}

func TestAProcessThatEnds(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "GRAPHTRAP_TEST_WAIT=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if !parent.Watch(ctx, cmd.Process.Pid, func() { close(gone) }) {
		t.Fatal("a running process is not seen")
	}
	select {
	case <-gone:
		t.Fatal("it is said to be gone while it runs")
	case <-time.After(1500 * time.Millisecond):
	}
	in.Close()
	_ = cmd.Wait()
	select {
	case <-gone:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody saw it end")
	}
	if parent.Watch(ctx, cmd.Process.Pid, func() {}) {
		t.Error("a process that is gone is seen")
	}
}

func TestNumbersThatAreNoProcess(t *testing.T) {
	for _, pid := range []int{0, -1, 1 << 30} {
		if parent.Watch(t.Context(), pid, func() {}) {
			t.Errorf("process %d is seen", pid)
		}
	}
}
