package parent

import (
	"context"
	"syscall"
)

// wait sleeps until the process ends, which is then true, or ctx does.
func (p process) wait(ctx context.Context) (ended, told bool) {
	// The goroutine outlives ctx, and so must its handle: it stays until the process
	// ends, or ours does.
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return false, false
	}
	var handle syscall.Handle
	if err := syscall.DuplicateHandle(self, p.handle, self, &handle, 0, false, syscall.DUPLICATE_SAME_ACCESS); err != nil {
		return false, false
	}
	happened := make(chan bool, 1)
	go func() {
		event, err := syscall.WaitForSingleObject(handle, syscall.INFINITE)
		_ = syscall.CloseHandle(handle)
		happened <- err == nil && event == syscall.WAIT_OBJECT_0
	}()
	select {
	case ok := <-happened:
		return ok, ok
	case <-ctx.Done():
		return false, true
	}
}
