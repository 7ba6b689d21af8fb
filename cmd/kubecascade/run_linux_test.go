package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudoterminal: the user's side, and that of the programs.
func terminal(t *testing.T) (user, programs *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { user.Close() })
	var n int
	if err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		n, err = unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		programs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return user, programs
}

// TestCommandGetsTerminalSignalsOnce: the signals are those of the terminal's keys. The command decides what follows.
func TestCommandGetsTerminalSignalsOnce(t *testing.T) {
	user, programs := terminal(t)
	p := startRun(t, func(c *exec.Cmd) {
		c.Stdin = programs
		c.SysProcAttr.Setctty = true // standard input
	}, "kubecascade", "run", "--", "listener")
	programs.Close()
	p.sees("ready")
	for _, key := range []struct {
		code   string
		signal syscall.Signal
	}{{"\x03", syscall.SIGINT}, {"\x1c", syscall.SIGQUIT}, {"\x03", syscall.SIGINT}} {
		if _, err := user.WriteString(key.code); err != nil {
			t.Fatal(err)
		}
		p.sees(key.signal.String())
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil { // not of the terminal; everything before was handled
		t.Fatal(err)
	}
	p.sees(syscall.SIGTERM.String())
	if _, err := user.WriteString("\x04"); err != nil { // the end of the input
		t.Fatal(err)
	}
	p.ends(listenerExit)
}

// TestKilledRunTerminatesItsCommand: the next start removes the data of the server.
func TestKilledRunTerminatesItsCommand(t *testing.T) {
	t.Setenv("SHELL", "listener")
	for _, c := range []struct {
		name   string
		line   []string
		signal syscall.Signal
	}{
		{"command", []string{"kubecascade", "run", "--", "listener"}, syscall.SIGTERM},
		{"shell", []string{"kubecascade", "run"}, syscall.SIGHUP}, // interactive shells ignore SIGTERM
	} {
		t.Run(c.name, func(t *testing.T) {
			checkEmpty := temporary(t)
			p := startRun(t, nil, c.line...)
			p.sees("ready")
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			line := c.signal.String() + "\n"
			p.sees(c.signal.String())
			p.stdin.Close()
			// Linux sends the signal again when the next thread of the parent exits.
			if rest, err := io.ReadAll(p.stdout); err != nil || strings.ReplaceAll(string(rest), line, "") != "" {
				t.Errorf("also printed %q (%v)", rest, err)
			}
			_ = p.Wait() // it was killed
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) == 0 {
				t.Errorf("a killed process has left nothing: %v", err)
			}
			if out, err := exec.Command("kubecascade", "run", "--", "true").CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v %s", err, out)
			}
			checkEmpty()
		})
	}
}
