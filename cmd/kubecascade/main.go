package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// echo is how long a second signal is regarded as a repetition of the first: timeout(1) sends it to the process and to
// its group, a terminal to both a shell script and its child, which forwards it.
const echo = time.Second

func main() {
	role := roleOf(os.Args[0])
	if role == "etcd" {
		asEtcd(os.Args)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	ends := endSignals()
	signal.Notify(signals, ends...)
	go func() {
		first := <-signals
		cancel()
		for again := time.After(echo); ; {
			select {
			case s := <-signals:
				if s == first {
					continue
				}
				os.Exit(1)
			case <-again:
				signal.Reset(ends...) // the next signal ends the process
				return
			}
		}
	}()
	if role == "kube-apiserver" {
		if err := asAPIServer(ctx, os.Args); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		return
	}
	if c, err := root().ExecuteContextC(ctx); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errInterrupted{errors.New("interrupted")}
		}
		report(c, err)
		os.Exit(exitCode(err))
	}
}

// errUsage marks errors of wrong usage; errUnable, errors that prevent any result; errInterrupted, the end by a signal.
type (
	errUsage       struct{ error }
	errUnable      struct{ error }
	errInterrupted struct{ error }
)

// Unwrap returns the wrapped error.
func (e errUsage) Unwrap() error { return e.error }

// Unwrap returns the wrapped error.
func (e errUnable) Unwrap() error { return e.error }

// exitCode is 1 for an error or a negative result, 2 if there is no result, and 130 for an interruption, as in a shell.
func exitCode(err error) int {
	var (
		usage       errUsage
		unable      errUnable
		interrupted errInterrupted
	)
	switch {
	case errors.As(err, &interrupted):
		return 130
	case errors.As(err, &usage), errors.As(err, &unable):
		return 2
	}
	return 1
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:           "kubecascade",
		Short:         "A Kubernetes API server with a working garbage collector, in one process",
		SilenceErrors: true, SilenceUsage: true,
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return errUsage{allowed(err)} })
	for _, sub := range []*cobra.Command{serveCommand(), versionCommand(), healthCommand(), conformanceCommand(),
		assetsCommand()} {
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
	complete(c)
	return c
}

// kinds describes the values of flags, by the types of package pflag.
var kinds = map[string]string{
	"bool": "true or false", "int": "a whole number", "int64": "a whole number", "duration": "a duration like 1m30s",
}

// allowed makes an error about a flag's value say which values are allowed, instead of which function rejected it.
func allowed(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) || kinds[wrong.GetFlag().Value.Type()] == "" {
		return err
	}
	return fmt.Errorf("--%s %q is not %s", wrong.GetFlag().Name, wrong.GetValue(), kinds[wrong.GetFlag().Value.Type()])
}

// report prints an error, with the usage if that helps. It doesn't print all flags, as the error would scroll out of
// sight.
func report(c *cobra.Command, err error) {
	fmt.Fprintln(os.Stderr, "Error:", err)
	var u errUsage
	switch {
	case c.HasSubCommands() && !c.Runnable(): // it only has subcommands: the error is an unknown command or flag
		fmt.Fprint(os.Stderr, "\n", c.UsageString())
	case errors.As(err, &u):
		fmt.Fprintf(os.Stderr, "\nUsage:\n  %s\n\n\"%s --help\" shows the flags.\n", c.UseLine(), c.CommandPath())
	}
}
