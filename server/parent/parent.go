// Package parent tells when the process that started the server is gone, so that
// no server stays behind when an editor crashes without closing its pipes.
//
// Where the system can tell by itself that a process ended, which is nearly
// everywhere, waiting for it costs nothing: an idle server does not wake up. Only
// where it cannot, the process is looked at now and then.
package parent

import (
	"context"
	"time"
)

// poll is how often a process is looked at where the system does not tell.
const poll = 2 * time.Second

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
		if ended, told := p.wait(ctx); told {
			if ended {
				gone()
			}
			return
		}
		tick := time.NewTicker(poll)
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
