package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/graphtrap/graphtrap/analyzer"
	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/input"
	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/server/files"
)

// maxStdin bounds what is kept of standard input, in bytes: a pipe cannot be
// read twice. Longer logs are read from their file.
const maxStdin = 2 << 30

// formats are the values of --format.
var formats = []string{"text", "json", "errorformat"}

func diagnoseCommand() *cobra.Command {
	var format string
	var exitCode, why bool
	cmd := &cobra.Command{
		Use:   "diagnose [flags] PATH...|-",
		Short: "Read a log and say who failed first, why, and what to do",
		Long: `Reads a log, several logs or a folder of per-rank logs as one incident, or
standard input for "-", and prints a verdict: who started it and
at which line, who only fell with it, whether CUDA graph memory is the cause, and
the fix with a way to check it; or the one fact that is missing.

Exit status: 0 the log was read, whatever was found; 1 with --exit-code, if a
failure was found; 2 wrong usage or unreadable input.`,
		Example: "  graphtrap diagnose train.log\n  graphtrap diagnose --why torchrun-logs/\n  kubectl logs trainer-0 | graphtrap diagnose -",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return fmt.Errorf("unknown format %q: use text, json or errorformat", format)
			}
			if why && format != "text" {
				return errors.New("--why adds to the text: the JSON report always has its members reasoning, checklist and rivals")
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			report, err := diagnose(ctx, args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if err := show(cmd.OutOrStdout(), report, format, why); err != nil {
				return fmt.Errorf("printing the report: %w", err)
			}
			if exitCode && report.Verdict.Status != incident.NoFailureFound {
				return exitError{code: exitFailureFound}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text for a person, json for a program, errorformat for an editor that reads compilers' errors")
	cmd.Flags().BoolVar(&why, "why", false, "also print every rule that fired, what was looked for, and who else was considered (text only)")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 if a failure was found")
	return cmd
}

func diagnose(ctx context.Context, paths []string, stdin io.Reader) (*incident.Report, error) {
	opened, err := open(ctx, paths, stdin)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	analysis, err := analyzer.Diagnose(ctx, opened.Files, analyzer.Options{Version: version()})
	if err != nil {
		return nil, err
	}
	analysis.Report.Notes = append(analysis.Report.Notes, opened.Notes...)
	return analysis.Report, nil
}

// open makes the paths, or standard input, readable at any offset.
func open(ctx context.Context, paths []string, stdin io.Reader) (*files.Opened, error) {
	if !slices.Contains(paths, "-") {
		return files.Open(ctx, "", paths...)
	}
	if len(paths) > 1 {
		return nil, errors.New("standard input (-) is read alone: give it, or paths")
	}
	data, err := io.ReadAll(io.LimitReader(stdin, maxStdin+1))
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	if len(data) > maxStdin {
		return nil, fmt.Errorf("standard input is longer than %d bytes: save it to a file and give its path", maxStdin)
	}
	file, err := input.Named(input.File{Path: "-", Data: bytes.NewReader(data), Size: int64(len(data))})
	if err != nil {
		return nil, fmt.Errorf("standard input cannot be read: %w", err)
	}
	return &files.Opened{Files: []input.File{file}}, nil
}

func show(w io.Writer, report *incident.Report, format string, why bool) error {
	switch format {
	case "json":
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(report)
	case "errorformat":
		return render.ErrorFormat(w, report)
	}
	return render.Text(w, report, render.TextOptions{Color: wantsColor(w), Width: width(w), Why: why})
}

// wantsColor: only on a terminal, and not where NO_COLOR is set (no-color.org).
func wantsColor(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// width is the terminal's, at most 100 columns and at least 60; 80 elsewhere.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return min(max(columns, 60), 100)
		}
	}
	return render.DefaultWidth
}
