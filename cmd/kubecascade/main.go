package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
	_ "time/tzdata" // the image and Windows have no time zones (K cmd/kube-apiserver/apiserver.go)

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade/internal/assets"
	"github.com/kubecascade/kubecascade/internal/child"
)

// roles has the main functions of the program when it is called by another name than its own. They get all arguments.
var roles = map[string]func(args []string){
	"etcd": asEtcd, "kube-apiserver": asAPIServer,
	assets.Plugin: asPlugin(), assets.PluginCompletion: asPlugin(cobra.ShellCompRequestCmd),
}

// started is the approximate time at which the process began.
var started = time.Now()

func main() {
	if as := roles[roleOf(os.Args[0])]; as != nil {
		as(os.Args)
		return
	}
	execute(root(), os.Args[1:])
}

// errUsage marks errors of wrong usage, errUnable errors that prevent any result, and errInterrupted the end by a
// signal. A child.ExitError has an exit code of its own; if it has no error, nothing is reported.
type (
	errUsage       struct{ error }
	errUnable      struct{ error }
	errInterrupted struct{ error }
)

// Unwrap returns the wrapped error.
func (e errUsage) Unwrap() error { return e.error }

// Unwrap returns the wrapped error.
func (e errUnable) Unwrap() error { return e.error }

// unable returns an errUnable; nil for nil.
func unable(err error) error {
	if err == nil {
		return nil
	}
	return errUnable{err}
}

// exitCode returns 1 for an error or a negative result, 2 if there is no result, and 130 for an interruption, as in a
// shell. A child.ExitError has its own.
func exitCode(err error) int {
	var (
		usage       errUsage
		unable      errUnable
		interrupted errInterrupted
		exit        *child.ExitError
	)
	switch {
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &interrupted):
		return 130
	case errors.As(err, &usage), errors.As(err, &unable):
		return 2
	}
	return 1
}

func root() *cobra.Command {
	subs := slices.Concat([]*cobra.Command{serveCommand(), runCommand()}, explaining(), checkpointCommands(),
		[]*cobra.Command{faultCommand(), snapshotCommand(), versionCommand(), healthCommand(), conformanceCommand(),
			assetsCommand(), pluginCommand()})
	return rootOf(&cobra.Command{
		Use: "kubecascade", Short: "A Kubernetes API server with a working garbage collector, in one process",
	}, subs...)
}

// rootOf completes a root command.
func rootOf(c *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c.SilenceErrors, c.SilenceUsage = true, true
	// A command that handles signals itself has another function here.
	c.PersistentPreRun = func(c *cobra.Command, _ []string) { c.SetContext(untilSignal(c.Context())) }
	// cobra's own flag has the shorthand -v, which is that of the log level. A root command only prints its help, or
	// the version instead.
	version, help := c.Flags().Bool("version", false, "print the version"), c.HelpFunc()
	c.SetHelpFunc(func(called *cobra.Command, args []string) {
		if !*version {
			help(called, args)
			return
		}
		fmt.Fprintln(called.OutOrStdout(), ownVersions())
	})
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return errUsage{allowed(err)} })
	for _, sub := range subs {
		if sub.Args == nil {
			sub.Args = noArguments
		}
		c.AddCommand(sub)
	}
	complete(c)
	return c
}

// parent completes a command that only has subcommands. hint is a part of the error about an unknown subcommand.
func parent(c *cobra.Command, hint string, subs ...*cobra.Command) *cobra.Command {
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return errUsage{fmt.Errorf("unknown command %q: %s", args[0], hint)}
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(subs...)
	return c
}

// noArguments returns an error if there are arguments, for a command that takes none.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return errUsage{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
}

// kinds describes the values of flags, by the types of package pflag.
var kinds = map[string]string{
	"bool": "true or false", "int": "a whole number", "int64": "a whole number", "duration": "a duration like 1m30s",
}

// allowed makes an error about a flag's value name the allowed values, instead of the function that rejected it.
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
	if exit, ok := errors.AsType[*child.ExitError](err); ok && exit.Err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "Error:", err)
	var u errUsage
	switch {
	case c.HasSubCommands() && !c.Runnable():
		fmt.Fprint(os.Stderr, "\n", c.UsageString())
	case errors.As(err, &u):
		fmt.Fprintf(os.Stderr, "\nUsage:\n  %s\n\n\"%s --help\" shows the flags.\n", c.UseLine(), c.CommandPath())
	}
}
