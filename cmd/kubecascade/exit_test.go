package main

import (
	"errors"
	"fmt"
	"testing"
)

func TestExitCodes(t *testing.T) {
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
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: %d, not %d", c.err, got, c.want)
		}
	}
	if !errors.Is(errUnable{err}, err) || !errors.Is(errUsage{err}, err) {
		t.Error("what is wrapped isn't found")
	}
}
