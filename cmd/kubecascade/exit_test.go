package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/conformance/replay"
	"github.com/kubecascade/kubecascade/internal/child"
)

func TestErrorsHaveExitCodes(t *testing.T) {
	err := errors.New("reason")
	_, nowhere := (&target{kubeconfig: "nowhere"}).client()
	_, unknown := (&target{server: "https://127.0.0.1:1", authority: "nowhere"}).client()
	for _, c := range []struct {
		err  error
		want int
	}{
		{err, 1},
		{errDifferent, 1},
		{errors.Join(errDifferent, err), 1},
		{errUsage{err}, 2},
		{fmt.Errorf("doing: %w", errUnable{err}), 2},
		{nowhere, 2},
		{unknown, 2},
		{errors.Join(err, errInterrupted{err}), 130},
		{&child.ExitError{Code: 7}, 7},
		{stopFailed(nil, err), 1},
		{stopFailed(&child.ExitError{Code: 7}, err), 7},
		{outcome(&replay.Report{Equal: 1, Different: 1}), 1},
		{outcome(&replay.Report{Skipped: 1}), 2},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: %d, not %d", c.err, got, c.want)
		}
	}
	if err := outcome(&replay.Report{Equal: 1, Skipped: 1}); err != nil {
		t.Errorf("equal answers are an error: %v", err)
	}
	if !errors.Is(errUnable{err}, err) || !errors.Is(errUsage{err}, err) {
		t.Error("the wrapped error isn't found")
	}
}

// TestEndWhileStandardInputHasNoEnd: a signal, which cancels the context, ends commands that read it.
func TestEndWhileStandardInputHasNoEnd(t *testing.T) {
	in, out := io.Pipe()
	t.Cleanup(func() { _ = out.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	add, preview := faultCommand(), previewDeleteCommand()
	add.SetArgs([]string{"add", "-"})
	preview.SetArgs([]string{"-f", "-"})
	for _, c := range []*cobra.Command{add, preview} {
		c.SetIn(in)
		c.SilenceUsage, c.SilenceErrors = true, true
		if err := c.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
