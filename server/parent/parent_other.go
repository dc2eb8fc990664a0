//go:build !unix && !windows

package parent

// There are no other processes to look at here; the end of the input is the sign.
type process struct{}

func open(int) (process, bool) { return process{}, false }
func (process) alive() bool    { return true }
func (process) close()         {}
