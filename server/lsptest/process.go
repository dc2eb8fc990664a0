package lsptest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Start connects a client to a server that is a program, which speaks the protocol
// on its standard input and output. status waits until it ends and returns its exit
// status. The program is killed when the test ends; what it wrote to its standard
// error is logged if the test failed.
func Start(t testing.TB, program string, arguments ...string) (c *Client, status func() int) {
	t.Helper()
	cmd := exec.Command(program, arguments...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w := pipe(t) // StdoutPipe would be closed by Wait
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ended := make(chan struct{})
	var failure error
	go func() {
		defer close(ended)
		failure = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("standard error of %s:\n%s", program, stderr.String())
		}
	})
	c = Connect(t, in, out)
	c.process = cmd.Process
	return c, func() int {
		select {
		case <-ended:
			var exit *exec.ExitError
			if failure != nil && !errors.As(failure, &exit) {
				t.Fatal(failure)
			}
			return cmd.ProcessState.ExitCode()
		case <-time.After(Patience):
			t.Fatal("the program does not end")
			return -1
		}
	}
}

// Process is the program that [Start] started; nil for a server in this process.
func (c *Client) Process() *os.Process { return c.process }
