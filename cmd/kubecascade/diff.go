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

// errDifferent is the end of a diff that found something.
var errDifferent = errors.New("the servers differ")

// diffCommand is "conformance diff".
func diffCommand() *cobra.Command {
	var c differ.Config
	var seed uint64
	var ops int
	cmd := &cobra.Command{
		Use:   "diff --reference URL --candidate URL",
		Short: "Send the same random operations to two servers and compare what they do",
		Long: `Send the same random operations to two servers and compare what they do: answers, watch events,
and what is there in the end. Both URLs must be open to everybody, as kubectl proxy makes them.
It makes namespaces, cluster-scoped objects and definitions of its own, whose names or groups begin with
"diff-", and deletes them at the end, when it is interrupted, too.
The exit code is 1 if the servers differ, 2 if they couldn't be compared, and 130 if it was interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Reference == "" || c.Candidate == "" {
				return errUsage{errors.New("--reference and --candidate are needed")}
			}
			if ops < 1 || c.Settle <= 0 {
				return errUsage{errors.New("--ops and --settle must be positive")}
			}
			if seed == 0 {
				seed = rand.Uint64N(1_000_000) + 1
			}
			c.Client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
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
				fmt.Fprintf(cmd.ErrOrStderr(), "left behind, for it wasn't gone in time:\n  %s\n", strings.Join(left, "\n  "))
			}
			var unable errUnable
			if errClean != nil && !errors.As(err, &unable) { // else it says the same once more
				err = errors.Join(err, errClean)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Reference, "reference", "", "URL of the server that is taken to be right")
	f.StringVar(&c.Candidate, "candidate", "", "URL of the server to compare")
	f.Uint64Var(&seed, "seed", 0, "seed of the operations; 0 for another one each time")
	f.IntVar(&ops, "ops", 500, "number of operations")
	f.BoolVar(&c.BuiltIn, "built-in", false, "built-in kinds only, for servers that don't serve custom resources")
	f.DurationVar(&c.Settle, "settle", 5*time.Second, "how long a cascade may take")
	return cmd
}

func reportDifference(w io.Writer, f *differ.Finding, ops int) {
	var words string
	switch {
	case f.Repeated && f.Interrupted:
		words = fmt.Sprintf("reduced to %d operations, which showed it each time, until the reduction ended early", len(f.Ops))
	case f.Repeated:
		words = fmt.Sprintf("reduced to %d operations, which showed it each time", len(f.Ops))
	case f.Interrupted:
		words = fmt.Sprintf("not reduced: the %d operations up to it weren't sent again to the end", len(f.Ops))
	default:
		words = fmt.Sprintf("which the %d operations up to it didn't show again, so it isn't reduced: a race, or somebody else's doing", len(f.Ops))
	}
	fmt.Fprintf(w, "a difference: --seed %d --ops %d, %s\n\n%s\n", f.Seed, ops, words, f.Difference)
	fmt.Fprintf(w, "To see it, with SERVER set to each URL:\n\n%s", f.Script())
}
