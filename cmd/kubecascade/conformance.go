package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/conformance"
	"github.com/kubecascade/kubecascade/conformance/cases"
)

// harness holds the flags of the command conformance.
type harness struct {
	target
	run, skip string
	list      bool
	output    outputs
	options   conformance.Options
}

// conformanceCommand runs the cases against any server.
func conformanceCommand() *cobra.Command {
	h := &harness{}
	c := &cobra.Command{
		Use:   "conformance",
		Short: "Test what deletion does on a Kubernetes API server",
		Long: `Test what deletion does on a Kubernetes API server.

Each case runs in its own namespace, which is deleted afterwards. All cases pass on
kube-apiserver with kube-controller-manager at their default flags.
The exit code is 1 if a case fails, 2 if no case has a result (wrong usage, server unreachable, permissions
missing), and 130 if the run is interrupted.`,
		Example: `  kubecascade conformance --server http://127.0.0.1:8080
  KUBECONFIG=~/.kube/config kubecascade conformance
  kubecascade conformance --kubeconfig ~/.kube/config --context kind-kind --run ^foreground/
  kubecascade conformance --server http://127.0.0.1:8080 --output junit=report.xml --skip ^custom/
  kubecascade conformance --list`,
		RunE: func(c *cobra.Command, _ []string) error { return h.do(c.Context(), c.OutOrStdout(), c.ErrOrStderr()) },
	}
	f := c.Flags()
	f.SortFlags = false
	h.flagsOrEnvironment(f)
	f.StringVar(&h.run, "run", "", "run only cases whose name matches this regular expression")
	f.StringVar(&h.skip, "skip", "", "skip cases whose name matches this regular expression")
	f.BoolVar(&h.list, "list", false, "list the cases with their rules and what they test, without running them")
	f.StringArrayVarP((*[]string)(&h.output), "output", "o", []string{"text"},
		"output format: text, json, junit, or with --list markdown; FORMAT=FILE writes to a file; may be repeated")
	f.DurationVar(&h.options.Timeout, "timeout", 3*time.Minute, "timeout of each case")
	f.DurationVar(&h.options.CleanUp, "cleanup-timeout", time.Minute,
		"how long to wait at the end for the deletion of the objects that the cases created")
	f.IntVar(&h.options.Parallel, "parallel", 16, "number of cases that run concurrently")
	c.AddCommand(diffCommand(), replayCommand())
	return c
}

// choose selects cases by --run and --skip.
func (h *harness) choose() (chosen, skipped []conformance.Case, err error) {
	var run, skip *regexp.Regexp
	for _, f := range []struct {
		name, value string
		pattern     **regexp.Regexp
	}{{"run", h.run, &run}, {"skip", h.skip, &skip}} {
		if f.value == "" {
			continue
		}
		if *f.pattern, err = regexp.Compile(f.value); err != nil {
			return nil, nil, errUsage{fmt.Errorf("--%s: %w", f.name, err)}
		}
	}
	chosen, skipped = conformance.Select(cases.All(), run, skip)
	if len(chosen) == 0 {
		return nil, nil, errUsage{errors.New("no case matches --run and --skip; --list shows all cases")}
	}
	return chosen, skipped, nil
}

func (h *harness) check() error {
	if h.options.Timeout <= 0 || h.options.CleanUp <= 0 || h.options.Parallel < 1 {
		return errUsage{errors.New("--timeout, --cleanup-timeout and --parallel must be positive")}
	}
	if h.list {
		return h.output.check("text", "json", "markdown")
	}
	return h.output.check("text", "json", "junit")
}

func (h *harness) do(ctx context.Context, stdout, stderr io.Writer) error {
	if err := h.check(); err != nil {
		return err
	}
	chosen, skipped, err := h.choose()
	if err != nil {
		return err
	}
	if h.list {
		files, err := h.output.open()
		if err != nil {
			return err
		}
		return h.output.write(stdout, files, map[string]func(io.Writer) error{
			"text":     func(w io.Writer) error { return conformance.ListText(w, chosen) },
			"json":     func(w io.Writer) error { return conformance.ListJSON(w, chosen) },
			"markdown": func(w io.Writer) error { return conformance.ListMarkdown(w, chosen) },
		})
	}
	client, err := h.client()
	if err != nil {
		return err
	}
	files, err := h.output.open()
	if err != nil {
		return err
	}
	line := newProgressLine(stderr)
	h.options.Progress = line.show
	h.options.Note = func(s string) {
		fmt.Fprintln(stderr, "Note:", s)
	}
	stop := context.AfterFunc(ctx, func() {
		line.clear()
		fmt.Fprintln(stderr, "Interrupted: cleaning up. Interrupt again to exit at once.")
	})
	defer stop()
	r, err := conformance.Run(ctx, client, chosen, skipped, h.options)
	line.clear()
	if err != nil {
		return errUnable{err}
	}
	if err := h.output.write(
		stdout, files, map[string]func(io.Writer) error{"text": r.WriteText, "json": r.WriteJSON, "junit": r.WriteJUnit},
	); err != nil {
		return err
	}
	return verdict(ctx, r)
}

// verdict returns the error that determines the exit code; nil if no case failed and at least one passed.
func verdict(ctx context.Context, r *conformance.Report) error {
	switch {
	case ctx.Err() != nil:
		return errInterrupted{fmt.Errorf("interrupted: %d of %d cases were not run", r.NotRun, len(r.Results))}
	case r.Failed > 0:
		return fmt.Errorf("%d of %d cases failed", r.Failed, len(r.Results)-r.Skipped)
	case r.Passed == 0:
		return errUnable{errors.New("no case has a result")}
	}
	return nil
}
