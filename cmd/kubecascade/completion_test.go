package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCompletedFlags: the flags whose values are completed exist, and each flag of each command has a completion, so
// that shells never offer files where there are none.
func TestCompletedFlags(t *testing.T) {
	exist := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			exist[f.Name] = true
			if _, ok := c.GetFlagCompletionFunc(f.Name); !ok {
				t.Errorf("%s --%s has no completion", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root())
	for name := range flagValues() {
		if !exist[name] {
			t.Errorf("values of --%s are completed, but no command has it", name)
		}
	}
	for _, name := range slices.Concat(directories, files) {
		if !exist[name] {
			t.Errorf("paths of --%s are completed, but no command has it", name)
		}
	}
	for _, name := range []string{"kubeconfig", "etcd-cafile", "etcd-keyfile", "token-auth-file"} {
		if !isFile(name) || !exist[name] {
			t.Errorf("--%s is not a file", name)
		}
	}
	if isFile("profiling") {
		t.Error("--profiling is a file")
	}
}

// TestListDescriptions: values after a comma have no description, as the script for bash then offers none.
func TestListDescriptions(t *testing.T) {
	offer := list(controllerWords)
	first, _ := offer(nil, nil, "n")
	if !slices.Contains(first, "none\tno controller") {
		t.Errorf("first value: %q", first)
	}
	next, _ := offer(nil, nil, "garbage-collector-controller,n")
	if !slices.Contains(next, "garbage-collector-controller,namespace-controller") || slices.ContainsFunc(next,
		func(s string) bool { return strings.Contains(s, "\t") }) {
		t.Errorf("after a comma: %q", next)
	}
}
