//go:build !windows

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/internal/child"
)

func init() { programs["listener"] = listener }

// listenerExit is the exit code of listener.
const listenerExit = 7

// listener is a command that prints "ready", and then each signal that it gets, until its standard input ends.
func listener() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	end := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends in any case
		close(end)
	}()
	fmt.Println("ready")
	for {
		select {
		case s := <-signals:
			fmt.Println(s)
		case <-end:
			os.Exit(listenerExit)
		}
	}
}

// runProcess is "kubecascade run" in the background.
type runProcess struct {
	*exec.Cmd
	t      *testing.T
	stdin  io.Closer
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// startRun starts a command line, without a terminal unless change gives it one. It is killed at the end of the test.
func startRun(t *testing.T, change func(*exec.Cmd), line ...string) *runProcess {
	if signal.Ignored(syscall.SIGHUP) { // by nohup(1): what the tests start would ignore it, too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	t.Helper()
	p := &runProcess{Cmd: exec.Command(line[0], line[1:]...), t: t}
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.Cmd.Stderr = &p.stderr
	var err error
	var out io.Reader
	if out, err = p.StdoutPipe(); err == nil && change == nil {
		p.stdin, err = p.StdinPipe()
	}
	if change != nil {
		change(p.Cmd)
	}
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	group := p.Process.Pid // of the session
	kill := func() { _ = syscall.Kill(-group, syscall.SIGKILL) }
	watchdog := time.AfterFunc(patience, kill)
	t.Cleanup(func() {
		watchdog.Stop()
		kill() // as a rule all have ended
	})
	return p
}

// sees fails unless the command prints the line next.
func (p *runProcess) sees(line string) {
	p.t.Helper()
	if got, err := p.stdout.ReadString('\n'); got != line+"\n" {
		p.t.Fatalf("printed %q (%v), not %q", got, err, line)
	}
}

// ends fails unless no more is printed, and the exit code is this one.
func (p *runProcess) ends(code int) {
	p.t.Helper()
	if rest, err := io.ReadAll(p.stdout); len(rest) > 0 || err != nil {
		p.t.Errorf("also printed %q (%v)", rest, err)
	}
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) || p.ProcessState.ExitCode() != code {
		p.t.Errorf("ended with %v, not exit code %d\n%s", p.ProcessState, code, &p.stderr)
	}
}

// temporary makes the processes of the test have a directory of their own for temporary files, and returns a function
// that fails unless it is empty.
func temporary(t *testing.T) (checkEmpty func()) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	return func() {
		t.Helper()
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
	}
}

// TestRunSignals: each signal to kubecascade is passed on to the command once. The command decides what follows.
func TestRunSignals(t *testing.T) {
	checkEmpty := temporary(t)
	p := startRun(t, nil, "kubecascade", "run", "--", "listener")
	p.sees("ready")
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGTERM} {
		if err := p.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		p.sees(s.String())
	}
	p.stdin.Close()
	p.ends(listenerExit)
	checkEmpty()
}

// TestRunIgnored: a signal that was ignored before kubecascade was started, as by nohup(1), is not passed on.
func TestRunIgnored(t *testing.T) {
	p := startRun(t, nil, "sh", "-c", "trap '' HUP; exec kubecascade run -- listener")
	p.sees("ready")
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if err := p.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	p.sees(syscall.SIGTERM.String())
	p.stdin.Close()
	p.ends(listenerExit)
}

// TestRunEarlySignal: a signal during the start of the server ends kubecascade, which removes everything. The exit code
// is the one of a command that the signal ends.
func TestRunEarlySignal(t *testing.T) {
	checkEmpty := temporary(t)
	fifo := filepath.Join(t.TempDir(), "tokens")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p := startRun(t, nil, "kubecascade", "run", "--token-auth-file="+fifo, "--", "cat")
	unblock := time.AfterFunc(patience, func() {
		if f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			f.Close()
		}
	})
	defer unblock.Stop()
	tokens, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits until the server reads
	if err == nil {
		err = p.Process.Signal(syscall.SIGTERM)
	}
	if err == nil {
		_, err = tokens.WriteString("token,user,uid\n")
	}
	if err = errors.Join(err, tokens.Close()); err != nil {
		t.Fatal(err)
	}
	p.ends(child.Signaled(syscall.SIGTERM))
	checkEmpty()
}

// TestPerturbSignal: a signal ends the search, also if the command exits with a code of its own.
func TestPerturbSignal(t *testing.T) {
	checkEmpty := temporary(t)
	script := "trap 'exit 7' INT; tail -f /dev/null >/dev/null 2>&1 & kill -INT $PPID; wait"
	p := startRun(t, nil, "kubecascade", "run", "--perturb=1", "--controllers=none", "--", "sh", "-c", script)
	p.ends(child.Signaled(syscall.SIGINT))
	if !strings.Contains(p.stderr.String(), "interrupted") {
		t.Errorf("printed %s", &p.stderr)
	}
	checkEmpty()
}

// TestRunClosedLog: kubecascade goes on if its logs can't be written, as with "2>&1 | head".
func TestRunClosedLog(t *testing.T) {
	checkEmpty := temporary(t)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	p := startRun(t, func(c *exec.Cmd) { c.Stderr, c.Stdin = out, strings.NewReader("") },
		"kubecascade", "run", "-v", "4", "--", "listener")
	out.Close()
	p.sees("ready")
	p.ends(listenerExit)
	checkEmpty()
}
