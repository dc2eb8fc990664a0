// Command graphtrap tells which rank of a distributed PyTorch job failed first,
// and whether CUDA graph memory is the cause, from the job's log.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Exit codes of graphtrap, besides 0. `serve` has codes of its own, which LSP
// fixes.
const (
	exitFailureFound = 1 // only with diagnose --exit-code
	exitUnusable     = 2 // wrong usage, or input that cannot be read
)

// exitError is an error whose exit code is not exitUnusable; a nil error prints nothing.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func main() {
	err := rootCommand().Execute()
	if err == nil {
		return
	}
	code := exitUnusable
	if exit, ok := errors.AsType[exitError](err); ok {
		code = exit.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "graphtrap: "+text)
	}
	os.Exit(code)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "graphtrap",
		Short:         "Who failed first in a distributed PyTorch job, why, and what to do",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(diagnoseCommand(), explainCommand(), serveCommand(), signaturesCommand(), versionCommand())
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintln(cmd.OutOrStdout(), "graphtrap "+version())
		},
	}
}

// version is the module's version, or the commit for a build from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
