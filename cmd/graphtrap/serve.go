package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/graphtrap/graphtrap/server"
)

func serveCommand() *cobra.Command {
	var logFile, logLevel string
	var parentPID int
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve an editor over standard input and output",
		Long: `Speaks the Language Server Protocol on standard input and output, which is what
editors start. It opens no socket and sends nothing anywhere else.

Exit status: 0 after shutdown and exit, else 1; 2 wrong usage.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			level, err := zapcore.ParseLevel(logLevel)
			if err != nil {
				return fmt.Errorf("unknown log level %q: use debug, info, warn or error", logLevel)
			}
			log, flush, err := newLogger(logFile, level)
			if err != nil {
				return err
			}
			defer flush()
			// An editor that is gone shows as a failed write, not as a signal.
			signal.Ignore(syscall.SIGPIPE)
			in, out := os.Stdin, os.Stdout
			os.Stdout = os.Stderr // a stray print cannot break the protocol
			srv := server.New(server.Config{Version: version(), Log: log, ParentPID: parentPID})
			if code := srv.Serve(cmd.Context(), in, out); code != 0 {
				return exitError{code: code}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.Bool("stdio", true, "use standard input and output; there is no other way, clients like to say it")
	flags.StringVar(&logFile, "log-file", "", "write the server's own log to this file instead of standard error")
	flags.StringVar(&logLevel, "log-level", "warn", "least level of the log: debug, info, warn or error; debug has text of documents")
	flags.IntVar(&parentPID, "parent-pid", 0, "end when this process does")
	return cmd
}

// newLogger makes the server's own log: JSON lines to standard error or a file,
// never to standard output. flush waits for what was logged.
func newLogger(path string, level zapcore.Level) (log *zap.Logger, flush func(), err error) {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewJSONEncoder(config)
	out := os.Stderr
	if path != "" {
		if out, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return nil, nil, fmt.Errorf("the log file cannot be opened: %w", err)
		}
	}
	sink := newLineSink(out)
	return zap.New(zapcore.NewCore(encoder, sink, level)), sink.flush, nil
}
