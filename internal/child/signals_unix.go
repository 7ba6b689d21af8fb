//go:build !windows

package child

import (
	"cmp"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

func userShell() string { return cmp.Or(os.Getenv("SHELL"), "sh") }

// Received returns the signals that must not end kubecascade while the command runs. Those that are ignored, for
// example by nohup(1), are ignored by the command as well.
func Received() []os.Signal {
	all := []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGPIPE}
	return slices.DeleteFunc(all, signal.Ignored)
}

// Ends reports whether a signal ends a process that doesn't handle it. SIGPIPE is about kubecascade's own logs.
func Ends(s os.Signal) bool { return s != syscall.SIGPIPE }

// passesOn reports whether a signal has to be sent to the command. The terminal also sends its signals to the command,
// unless the command has left this process group.
func passesOn(s os.Signal) bool {
	if s == syscall.SIGINT || s == syscall.SIGQUIT {
		return !inForeground()
	}
	return s != syscall.SIGPIPE
}

// inForeground reports whether the signals of the terminal's keys are for this process group.
func inForeground() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false // no terminal
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// endSignal returns the signal that ends the command. Interactive shells ignore SIGTERM.
func endSignal(shell bool) syscall.Signal {
	if shell {
		return syscall.SIGHUP
	}
	return syscall.SIGTERM
}

// terminate sends the command the signal that ends it.
func terminate(p *os.Process, shell bool) error { return p.Signal(endSignal(shell)) }

// bind does nothing: attributes determine what the system does when kubecascade is killed.
func bind(*os.Process) (release func() error, err error) { return func() error { return nil }, nil }
