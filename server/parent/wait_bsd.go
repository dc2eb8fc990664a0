//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package parent

import (
	"context"
	"syscall"
)

// wait sleeps until the process ends, which is then true, or ctx does. told is
// false where the system does not tell.
func (p process) wait(ctx context.Context) (ended, told bool) {
	queue, err := syscall.Kqueue()
	if err != nil {
		return false, false
	}
	syscall.CloseOnExec(queue)
	change := make([]syscall.Kevent_t, 1)
	syscall.SetKevent(&change[0], p.pid, syscall.EVFILT_PROC, syscall.EV_ADD|syscall.EV_ONESHOT)
	change[0].Fflags = syscall.NOTE_EXIT
	if _, err := syscall.Kevent(queue, change, nil, nil); err != nil {
		_ = syscall.Close(queue)
		return err == syscall.ESRCH, err == syscall.ESRCH
	}
	if !p.alive() { // it may have ended, and another have got its number, meanwhile
		_ = syscall.Close(queue)
		return true, true
	}
	happened := make(chan bool, 1)
	go func() { // stays until the process ends, or ours does
		events := make([]syscall.Kevent_t, 1)
		for {
			n, err := syscall.Kevent(queue, nil, events, nil)
			if err != syscall.EINTR {
				happened <- err == nil && n > 0
				return
			}
		}
	}()
	select {
	case ok := <-happened:
		_ = syscall.Close(queue)
		return ok, ok
	case <-ctx.Done():
		return false, true
	}
}
