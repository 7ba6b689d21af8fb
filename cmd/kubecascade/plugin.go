package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/internal/assets"
)

// explaining returns the commands that explain any cluster. kubectl's plugin has them, too.
func explaining() []*cobra.Command {
	return []*cobra.Command{
		treeCommand(), whyCommand(), trailCommand(), previewCommand(), lintCommand(), uiCommand(), waitSettledCommand(),
	}
}

// asPlugin returns the main function of the program as kubectl's plugin. With cobra.ShellCompRequestCmd before the
// arguments, it prints completions in cobra's format, which kubectl reads.
func asPlugin(before ...string) func(args []string) {
	return func(args []string) {
		c := rootOf(&cobra.Command{
			Use:         assets.Plugin,
			Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl cascade"},
			Short:       "Explain deletions: owners and dependents, what blocks them, previews, and problems",
		}, explaining()...)
		c.CompletionOptions.DisableDefaultCmd = true // kubectl's own completes the plugin, too
		execute(c, slices.Concat(before, args[1:]))
	}
}

func pluginCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "kubectl-plugin",
		Short: "Make the links by which kubectl finds this program as its plugin cascade",
		Long: `Make or refresh two links to this program, kubectl-cascade and kubectl_complete-cascade, and print their
paths. With their directory in PATH, kubectl has the commands "kubectl cascade tree", "why", "trail",
"preview", "lint", "ui" and "wait-settled", and completes their arguments.`,
		RunE: func(c *cobra.Command, _ []string) error {
			program, err := assets.Called()
			if errors.Is(err, assets.ErrTransient) {
				return errUnable{err}
			} else if err != nil {
				return err
			}
			paths, err := assets.InstallPlugin(dir, program)
			if err != nil {
				return errUnable{fmt.Errorf("kubectl-plugin: %w", err)}
			}
			if _, err := fmt.Fprintln(c.OutOrStdout(), strings.Join(paths, "\n")); err != nil {
				return err
			}
			for _, warning := range assets.PathWarnings(paths) {
				fmt.Fprintln(c.ErrOrStderr(), "warning:", warning)
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", "",
		"directory of the links (default that of this program if it is writable, or else .local/bin in the home directory)")
	return c
}

// execute runs a command line until a signal, reports the error, and ends the process with the exit code.
func execute(c *cobra.Command, args []string) {
	c.SetArgs(args)
	ran, err := c.ExecuteContextC(context.Background())
	if err == nil {
		return
	}
	if ran.Context().Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted{errors.New("interrupted")}
	}
	if ran.HasSubCommands() && !ran.Runnable() { // the error is an unknown command or flag
		err = errUsage{err}
	}
	report(ran, err)
	os.Exit(exitCode(err))
}
