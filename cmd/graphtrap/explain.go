package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphtrap/graphtrap/analyzer/render"
	"github.com/graphtrap/graphtrap/signatures"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID",
		Short: "Tell what is known about a failure or a message",
		Long: `Prints what the signatures hold about a failure or a message: what states it,
what speaks for it and against it, the facts that may be missing, every fix with
its reason, precondition, risk, undo and check, and a sample. Diagnoses name the
ids; "graphtrap signatures" lists all.`,
		Example: "  graphtrap explain cuda-graph-capture-oom\n  graphtrap explain torch-oom",
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			set, err := builtin()
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var ids []string
			for _, f := range set.Failures() {
				ids = append(ids, f.ID)
			}
			for _, m := range set.Messages() {
				ids = append(ids, m.ID)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := builtin()
			if err != nil {
				return err
			}
			e, err := render.Explain(set, args[0])
			if err != nil {
				return fmt.Errorf("%w; `graphtrap signatures` lists all", err)
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), e.Text)
			return err
		},
	}
}

func signaturesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "signatures",
		Short: "List the failures and messages that are known",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := builtin()
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), render.Signatures(set))
			return err
		},
	}
}

func builtin() (*signatures.Set, error) {
	set, err := signatures.Builtin()
	if err != nil {
		return nil, fmt.Errorf("loading the built-in signatures: %w", err)
	}
	return set, nil
}
