//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestSignal: an interrupted bench ends, also while it waits for an answer, and so does the server that it has started.
func TestSignal(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			c := exec.CommandContext(ctx, self, "-binary", self, "-only", "start")
			c.Env = append(os.Environ(), asBench+"=1", "TMPDIR="+t.TempDir())
			out, err := c.StderrPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			server := 0
			lines := bufio.NewScanner(out)
			for server == 0 && lines.Scan() {
				_, _ = fmt.Sscanf(lines.Text(), "accepted %d", &server)
			}
			if server == 0 {
				t.Fatal("the server accepted no connection")
			}
			t.Cleanup(func() { _ = syscall.Kill(server, syscall.SIGKILL) })
			if err := c.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			err = c.Wait()
			var exit *exec.ExitError
			if ctx.Err() != nil || !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("the bench ended with %v, after %v", err, ctx.Err())
			}
			if err := syscall.Kill(server, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the server still runs: %v", err)
			}
		})
	}
}
