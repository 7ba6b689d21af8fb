package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal is not caught any more: it ends the process
	if c, err := root().ExecuteContextC(ctx); err != nil {
		report(c, err)
		os.Exit(1)
	}
}

// errUsage marks errors that the command's usage helps with.
type errUsage struct{ error }

func root() *cobra.Command {
	c := &cobra.Command{
		Use:           "kubecascade",
		Short:         "A Kubernetes API server with a working garbage collector, in one process",
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return errUsage{err} })
	for _, sub := range []*cobra.Command{serveCommand(), versionCommand(), healthCommand()} {
		if sub.Args == nil {
			sub.Args = func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					return errUsage{fmt.Errorf("unexpected argument %q", args[0])}
				}
				return nil
			}
		}
		c.AddCommand(sub)
	}
	return c
}

// report prints an error, with the usage if that helps.
func report(c *cobra.Command, err error) {
	fmt.Fprintln(os.Stderr, "Error:", err)
	var u errUsage
	if errors.As(err, &u) {
		fmt.Fprint(os.Stderr, "\n", c.UsageString())
	}
}
