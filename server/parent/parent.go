// Package parent tells when the process that started the server is gone, so that
// no server stays behind when an editor crashes without closing its pipes.
package parent

import (
	"context"
	"time"
)

// Poll is how often a process is looked at.
const Poll = time.Second

// Watch calls gone once, from its own goroutine, when the process ends. It
// returns false, and does nothing, if there is no such process: a client in
// another container names a process that cannot be seen from here.
func Watch(ctx context.Context, pid int, gone func()) bool {
	p, ok := open(pid)
	if !ok {
		return false
	}
	go func() {
		defer p.close()
		tick := time.NewTicker(Poll)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if !p.alive() {
					gone()
					return
				}
			}
		}
	}()
	return true
}
