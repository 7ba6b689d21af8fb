package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/internal/child"
)

// runLong and runExample are parts of run's help.
const (
	runLong = `Start an ephemeral server, run a command that uses it, and stop the server. Without a command a shell is
started. Flags for kubecascade precede the command.

The command's environment has:
  KUBECONFIG                the path of a kubeconfig file with the credentials of an administrator
  KUBECASCADE_URL           the URL for HTTPS
  KUBECASCADE_INSECURE_URL  the URL for plain HTTP, with --insecure-port
  KUBECACHEDIR              a directory for kubectl's caches
KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are removed, so that no client uses the cluster of a surrounding
pod.

Standard input, output and error are the command's. Signals are passed on to it. The exit code is that of the command,
128 plus the signal's number if a signal has ended it, 127 if it is not found, 126 if it can't be executed, 2 after
wrong usage, and 1 if the server can't start or ends before the command.`
	runExample = `  kubecascade run -- go test ./...
  kubecascade run --simulate-pods -- sh -c 'kubectl apply -f deploy/ && kubectl rollout status deployment/web'`
)

func runCommand() *cobra.Command {
	o := &options{}
	f := &faultFlags{}
	groups := append(o.runGroups(), f.group())
	c := &cobra.Command{
		Use: "run [flags] [-- COMMAND ARG...]", Short: "Run a command with an ephemeral server",
		Long:              runLong,
		Example:           runExample,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		PersistentPreRun:  func(*cobra.Command, []string) {}, // signals are for COMMAND
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.completeRun(c.Flags().Changed, c.ErrOrStderr()); err != nil {
				return errUsage{err}
			}
			perturbs := c.Flags().Changed("perturb")
			if perturbs && len(args) == 0 || !perturbs && c.Flags().Changed("budget") {
				return errUsage{errors.New("--perturb needs COMMAND, and --budget needs --perturb")}
			}
			k, err := child.New(c.Context(), args)
			if err != nil {
				return err
			}
			k.Cmd.Stdin, k.Cmd.Stdout, k.Cmd.Stderr = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
			if f.file != "" {
				if err := readPlan(c, f.file, &f.plan); err != nil {
					return err
				}
				o.API.EnableFaults = true
			}
			if perturbs {
				return o.perturb(c.Context(), f, args, c.ErrOrStderr())
			}
			return o.run(c.Context(), k, f.plan, c.ErrOrStderr(), func(s *kubecascade.Server) {
				if r := s.Faults().Report(); len(f.plan.Rules) > 0 {
					fmt.Fprintf(c.ErrOrStderr(), "kubecascade: %s injected\n%s", backup.Count(r.Total, "fault"), rulesText(&r))
				}
			})
		},
	}
	c.Flags().SetInterspersed(false) // flags after the command's name are the command's
	addGroups(c, groups)
	return c
}

// notForRun has the flags of serve, besides those of the group Storage, that make no sense for run: its server runs as
// long as a command, and has a kubeconfig for that alone.
var notForRun = []string{"kubeconfig-out", "kubeconfig-mode", "ready-file", "leader-elect",
	"leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-retry-period"}

// runGroups declares the flags of run: those of serve, partly with other defaults.
func (o *options) runGroups() (kept []group) {
	for _, g := range o.groups() {
		if g.title == "Storage" {
			continue
		}
		f := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		f.SortFlags = false
		g.flags.VisitAll(func(flag *pflag.Flag) {
			if !slices.Contains(notForRun, flag.Name) {
				f.AddFlag(runFlag(flag))
			}
		})
		kept = append(kept, group{g.title, f})
	}
	o.ephemeral, o.Addresses.InsecurePort, o.Addresses.SecurePort = true, 0, 0
	return kept
}

// runFlag changes the help of flags that are different with run.
func runFlag(f *pflag.Flag) *pflag.Flag {
	switch f.Name {
	case "insecure-port", "secure-port":
		f.DefValue = "0"
	case "audit-log-path":
		f.Usage = "file for audit events"
	case "v":
		f.Usage = "log level: 0 for no logs, 1 for warnings, errors and the actions of controllers, 4 for every " +
			"request as well"
	}
	return f
}

// completeRun is complete for run. Only errors that end kubecascade are printed to stderr, unless --v is given.
func (o *options) completeRun(changed func(name string) bool, stderr io.Writer) error {
	if err := o.complete(changed); err != nil {
		return err
	}
	if o.Audit.Path == "-" {
		return errors.New("--audit-log-path - is not possible: standard output is the command's")
	}
	o.Log = slog.New(slog.DiscardHandler)
	if o.verbosity > 0 {
		o.Log = o.logger(stderr)
	}
	slog.SetDefault(o.Log)
	klog.SetSlogLogger(o.Log) // libraries would write to standard error
	return nil
}

// run starts a server that injects the faults of a plan, if it has rules, runs k, and stops the server. It calls ended
// before, if k has ended.
func (o *options) run(ctx context.Context, k *child.Child, plan kubecascade.FaultPlan, stderr io.Writer,
	ended func(*kubecascade.Server)) error {
	signals := make(chan os.Signal, 16) // more at once than the command could handle
	signal.Notify(signals, child.Received()...)
	defer signal.Stop(signals)
	limitMemory(o.Log)
	s, err := o.startUnlessSignaled(ctx, signals)
	if err != nil {
		return err
	}
	if len(plan.Rules) > 0 {
		s.Faults().MaxFired = 100_000 // of one command
		if _, _, err := s.Faults().Add(plan); err != nil {
			return errors.Join(err, s.Stop())
		}
	}
	if o.verbosity > 0 {
		fmt.Fprintln(stderr, readyMessage(s))
	}
	if k.Shell {
		fmt.Fprintf(stderr, "kubecascade: starting %s with KUBECONFIG=%s; the server stops when the shell exits\n",
			k.Cmd.Path, s.Kubeconfig())
	}
	k.Cmd.Env = child.Environment(os.Environ(), s.Kubeconfig(), s.URL(), s.InsecureURL())
	err = k.Run(signals, s.Done())
	select {
	case <-s.Done():
		return fmt.Errorf("the server ended while the command was running, and the command was terminated: %w", s.Err())
	default:
	}
	ended(s)
	if stopErr := s.Stop(); stopErr != nil {
		return stopFailed(err, stopErr)
	}
	return err
}

// unreported returns err, or nil if err is only the exit code of a command.
func unreported(err error) error {
	if exit, ok := errors.AsType[*child.ExitError](err); ok && exit.Err == nil {
		return nil
	}
	return err
}

// stopFailed returns the result of a run whose command ended with err and whose server didn't stop properly: the
// command's exit code, unless that is 0.
func stopFailed(err, stopErr error) error {
	stopErr = fmt.Errorf("stopping the server: %w", stopErr)
	if err == nil {
		return stopErr
	}
	return &child.ExitError{Code: exitCode(err), Err: errors.Join(unreported(err), stopErr)}
}

// startUnlessSignaled starts a server. A signal ends the start with an error.
func (o *options) startUnlessSignaled(ctx context.Context, signals <-chan os.Signal) (*kubecascade.Server, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var s *kubecascade.Server
	var err error
	started := make(chan struct{})
	go func() {
		defer close(started)
		s, err = kubecascade.Start(ctx, o.Options)
	}()
	for {
		select {
		case <-started:
			if err != nil {
				return nil, errors.Unwrap(err) // names flags
			}
			return s, nil
		case got := <-signals:
			if !child.Ends(got) {
				continue
			}
			cancel()
			<-started
			if err == nil {
				err = s.Stop()
			} else {
				err = nil // it was canceled
			}
			err = errors.Join(fmt.Errorf("%v before the command was started", got), err)
			return nil, &child.ExitError{Code: child.Signaled(got), Err: err}
		}
	}
}
