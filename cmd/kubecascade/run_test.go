package main

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// TestRunHasFlagsOfServe: the flags that run lacks are flags of serve, and so are those that it has, except those of
// faults.
func TestRunHasFlagsOfServe(t *testing.T) {
	all, has, own := serveCommand().Flags(), runCommand().Flags(), (&faultFlags{}).group().flags
	has.VisitAll(func(f *pflag.Flag) {
		if all.Lookup(f.Name) == nil && own.Lookup(f.Name) == nil {
			t.Errorf("run has --%s, serve doesn't", f.Name)
		}
	})
	for _, name := range slices.Concat(notForRun, []string{"data-dir", "ephemeral", "etcd-servers"}) {
		if all.Lookup(name) == nil || has.Lookup(name) != nil {
			t.Errorf("--%s: serve has it: %t, run has it: %t", name, all.Lookup(name) != nil, has.Lookup(name) != nil)
		}
	}
	for _, name := range []string{"controllers", "concurrent-gc-syncs", "simulate-pods", "authorization-mode",
		"enable-admission-plugins", "feature-gates", "runtime-config", "max-requests-inflight", "v"} {
		if has.Lookup(name) == nil {
			t.Errorf("run doesn't have --%s", name)
		}
	}
}
