package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
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
It makes namespaces and cluster-scoped objects of its own and leaves them there.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Reference == "" || c.Candidate == "" {
				return errUsage{errors.New("--reference and --candidate are needed")}
			}
			if seed == 0 {
				seed = rand.Uint64N(1_000_000) + 1
			}
			c.Client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
			c.Prefix = fmt.Sprintf("diff-%d-", time.Now().UnixMilli())
			f, err := differ.Find(cmd.Context(), c, seed, ops)
			if f != nil {
				reportDifference(cmd.OutOrStdout(), f, ops)
				return errors.Join(errDifferent, err)
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "no difference: --seed %d --ops %d\n", seed, ops)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Reference, "reference", "", "URL of the server that is taken to be right")
	f.StringVar(&c.Candidate, "candidate", "", "URL of the server to compare")
	f.Uint64Var(&seed, "seed", 0, "seed of the operations; 0 for another one each time")
	f.IntVar(&ops, "ops", 500, "number of operations")
	f.DurationVar(&c.Settle, "settle", 5*time.Second, "how long a cascade may take")
	return cmd
}

func reportDifference(w io.Writer, f *differ.Finding, ops int) {
	fmt.Fprintf(w, "a difference: --seed %d --ops %d, reduced to %d operations\n\n%s\nTo see it, with SERVER set to each URL:\n\n%s",
		f.Seed, ops, len(f.Ops), f.Difference, f.Script())
}
