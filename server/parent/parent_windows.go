package parent

import "syscall"

// process keeps a handle, so that the number cannot be given to another process.
type process struct{ handle syscall.Handle }

func open(pid int) (process, bool) {
	if pid <= 0 {
		return process{}, false
	}
	h, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return process{}, false
	}
	p := process{handle: h}
	if !p.alive() {
		p.close()
		return process{}, false
	}
	return p, true
}

func (p process) alive() bool {
	event, err := syscall.WaitForSingleObject(p.handle, 0)
	return err != nil || event == syscall.WAIT_TIMEOUT
}

func (p process) close() { _ = syscall.CloseHandle(p.handle) }
