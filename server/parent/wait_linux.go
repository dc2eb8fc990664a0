package parent

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// wait sleeps until the process ends, which is then true, or ctx does. told is
// false where the system does not tell: Linux before 5.3 and some sandboxes.
func (p process) wait(ctx context.Context) (ended, told bool) {
	handle, err := openHandle(p.pid)
	switch {
	case errors.Is(err, os.ErrProcessDone):
		return true, true
	case err != nil:
		return false, false
	}
	defer handle.Close()
	if !p.alive() { // it may have ended, and another have got its number, meanwhile
		return true, true
	}
	conn, err := handle.SyscallConn()
	if err != nil {
		return false, false
	}
	// Closing wakes the one who waits.
	defer context.AfterFunc(ctx, func() { handle.Close() })()
	// A handle can be read from once its process has ended. There is nothing to read.
	woken := false
	err = conn.Read(func(uintptr) bool {
		defer func() { woken = true }()
		return woken
	})
	if ctx.Err() != nil {
		return false, true
	}
	return err == nil, err == nil
}

// openHandle opens the process as a file that Go's network poller waits for, so
// that waiting takes no thread.
func openHandle(pid int) (*os.File, error) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Release() }()
	fd, failed := -1, error(nil)
	err = p.WithHandle(func(handle uintptr) {
		if fd, failed = syscall.Dup(int(handle)); failed == nil {
			syscall.CloseOnExec(fd)
			failed = syscall.SetNonblock(fd, true)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
		return nil, err
	}
	return os.NewFile(uintptr(fd), "process"), nil
}
