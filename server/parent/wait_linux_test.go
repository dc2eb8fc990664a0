package parent

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestWaitingNeedsNoClock: the system tells, and stops telling when it is asked to.
func TestWaitingNeedsNoClock(t *testing.T) {
	p, ok := open(os.Getpid())
	if !ok {
		t.Fatal("this process is not seen")
	}
	if handle, err := openHandle(p.pid); err == nil {
		handle.Close()
	} else if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EPERM) || errors.Is(err, os.ErrNoHandle) {
		t.Skipf("no handles of processes here: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ended, told := p.wait(ctx); ended || !told {
		t.Errorf("ended %v, told %v; want not ended, but told", ended, told)
	}
}
