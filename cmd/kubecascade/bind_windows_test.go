package main

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestCommandEndsWithKilledParent: a command ends when kubecascade, which has started it, is killed.
func TestCommandEndsWithKilledParent(t *testing.T) {
	if os.Getenv("KUBECASCADE_TEST_BIND") != "" { // the command: it waits for the end of its standard input
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	in, held, err := os.Pipe() // held is open until the end of the test, so that only the job ends the command
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	defer in.Close()
	outer := exec.Command("kubecascade", "run", "--", os.Args[0], "-test.run=^TestCommandEndsWithKilledParent$", "-test.v")
	outer.Env = append(os.Environ(), "KUBECASCADE_TEST_BIND=1")
	outer.Stdin = in
	out, err := outer.StdoutPipe()
	if err == nil {
		err = outer.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = outer.Process.Kill() }) // it may have ended
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the command did not start: %v", err)
	}
	if err := outer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // the command has the other end until it ends
		defer close(ended)
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the command goes on")
	}
}
