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
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Reset(os.Interrupt, syscall.SIGTERM) // from now on a signal ends the process
		cancel()
	}()
	if c, err := root().ExecuteContextC(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
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
	for _, sub := range []*cobra.Command{serveCommand(), versionCommand(), healthCommand(), conformanceCommand()} {
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

// report prints an error, with the usage if that helps. It doesn't print all flags, for the error
// would be out of sight above them.
func report(c *cobra.Command, err error) {
	fmt.Fprintln(os.Stderr, "Error:", err)
	var u errUsage
	switch {
	case c.HasSubCommands() && !c.Runnable(): // it does nothing itself: the error is that there is no such command or flag
		fmt.Fprint(os.Stderr, "\n", c.UsageString())
	case errors.As(err, &u):
		fmt.Fprintf(os.Stderr, "\nUsage:\n  %s\n\n\"%s --help\" shows the flags.\n", c.UseLine(), c.CommandPath())
	}
}
