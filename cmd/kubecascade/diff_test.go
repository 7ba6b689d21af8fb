package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/kubecascadetest"
)

// startCompared returns the URL of a server with the namespace controller, and other controllers.
func startCompared(t *testing.T, controllers ...string) string {
	t.Helper()
	return kubecascadetest.New(t, func(o *kubecascade.Options) {
		o.Addresses.InsecurePort, o.Controllers.Enabled = -1, append(controllers, "namespace-controller")
	}).InsecureURL()
}

// runDiff runs the command and returns what it printed.
func runDiff(t *testing.T, args ...string) (string, error) {
	var out bytes.Buffer
	c := diffCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetOut(&out)
	c.SetArgs(args)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

func TestEqualServersHaveNoDifference(t *testing.T) {
	const collector = "garbage-collector-controller"
	out, err := runDiff(t, "--reference", startCompared(t, collector), "--candidate", startCompared(t, collector),
		"--seed=3", "--ops=50")
	if err != nil || out != "no difference: --seed 3 --ops 50\n" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestDiffFindsAndReducesDifference(t *testing.T) {
	out, err := runDiff(t, "--reference", startCompared(t, "garbage-collector-controller"), "--candidate", startCompared(t),
		"--seed=1", "--ops=50", "--settle=300ms", "--built-in")
	if !errors.Is(err, errDifferent) {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		"difference found: --seed 1 --ops 50, reduced to ", "--- reference\n", "--- candidate\n", "\nu",
		"=$(curl -sS -X POST \"$SERVER\"'/api",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

func TestInvalidDiffFlagsAreUsageErrors(t *testing.T) {
	both := []string{"--reference", "http://127.0.0.1:1", "--candidate", "http://127.0.0.1:1"}
	for _, args := range [][]string{
		both[:2], append(both, "--ops=0"), append(both, "--ops=-1"), append(both, "--settle=0s"),
	} {
		var u errUsage
		if _, err := runDiff(t, args...); !errors.As(err, &u) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
