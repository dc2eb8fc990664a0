//go:build unix

package parent

import (
	"errors"
	"os"
	"syscall"
)

type process struct {
	pid int
	// ours is set for our own parent. When it dies we get another one at once,
	// also while it is a zombie that still has its number.
	ours bool
}

func open(pid int) (process, bool) {
	p := process{pid: pid, ours: os.Getppid() == pid}
	return p, pid > 0 && p.alive()
}

func (p process) alive() bool {
	if p.ours && os.Getppid() != p.pid {
		return false
	}
	err := syscall.Kill(p.pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func (process) close() {}
