package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/conformance/differ"
)

// errDifferent is the error of a diff that found differences.
var errDifferent = errors.New("the servers differ")

func diffCommand() *cobra.Command {
	var c differ.Config
	var seed uint64
	var ops int
	cmd := &cobra.Command{
		Use:   "diff --reference URL --candidate URL",
		Short: "Send the same random operations to two servers and compare their behavior",
		Long: `Send the same random operations to two servers and compare their responses, their watch events
and the remaining objects. Both URLs must accept requests without credentials, as kubectl proxy does.
The command creates namespaces, cluster-scoped objects and CRDs whose names or groups begin with "diff-". It
deletes them at the end, also when it is interrupted.
The exit code is 1 if the servers differ, 2 if they can't be compared, and 130 if the run is interrupted.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Reference.URL == "" || c.Candidate.URL == "" {
				return errUsage{errors.New("--reference and --candidate are required")}
			}
			if ops < 1 || c.Settle <= 0 {
				return errUsage{errors.New("--ops and --settle must be positive")}
			}
			if seed == 0 {
				seed = rand.Uint64N(1_000_000) + 1
			}
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
			c.Reference.Client, c.Candidate.Client = client, client
			c.Prefix = fmt.Sprintf("diff-%d-", time.Now().UnixMilli())
			line := newProgressLine(cmd.ErrOrStderr())
			c.Progress = line.print
			f, err := differ.Find(cmd.Context(), c, seed, ops)
			line.print("cleaning up")
			left, errClean := differ.Clean(cmd.Context(), c)
			line.clear()
			if f != nil {
				reportDifference(cmd.OutOrStdout(), f, ops)
				err = errors.Join(errDifferent, err)
			} else if err != nil {
				err = errUnable{err}
			} else {
				fmt.Fprintf(cmd.OutOrStdout(), "no difference: --seed %d --ops %d\n", seed, ops)
			}
			if len(left) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "not deleted in time:\n  %s\n", strings.Join(left, "\n  "))
			}
			// Otherwise it would repeat the error.
			if _, unable := errors.AsType[errUnable](err); errClean != nil && !unable {
				err = errors.Join(err, errClean)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Reference.URL, "reference", "", "URL of the server whose behavior is expected")
	f.StringVar(&c.Candidate.URL, "candidate", "", "URL of the server to compare")
	f.Uint64Var(&seed, "seed", 0, "seed of the operations; 0 chooses a random one")
	f.IntVar(&ops, "ops", 500, "number of operations")
	f.BoolVar(&c.BuiltIn, "built-in", false, "use only built-in kinds, for servers without custom resources")
	f.DurationVar(&c.Settle, "settle", 5*time.Second, "how long to wait for a cascading deletion")
	return cmd
}

func reportDifference(w io.Writer, f *differ.Finding, ops int) {
	var words string
	switch {
	case f.Repeated && f.Interrupted:
		words = fmt.Sprintf(
			"reduced to %d operations, which reproduce it each time; the reduction was interrupted", len(f.Ops))
	case f.Repeated:
		words = fmt.Sprintf("reduced to %d operations, which reproduce it each time", len(f.Ops))
	case f.Interrupted:
		words = fmt.Sprintf("not reduced: interrupted while repeating the %d operations before it", len(f.Ops))
	default:
		words = fmt.Sprintf(
			"not reduced, because repeating the %d operations before it did not reproduce it: a race, or another "+
				"client changed something", len(f.Ops))
	}
	fmt.Fprintf(w, "difference found: --seed %d --ops %d, %s\n\n%s\n", f.Seed, ops, words, f.Difference)
	fmt.Fprintf(w, "To reproduce it, set SERVER to each URL in turn:\n\n%s", f.Script())
}
