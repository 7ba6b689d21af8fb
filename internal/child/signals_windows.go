package child

import (
	"cmp"
	"os"
	"syscall"
)

func userShell() string { return cmp.Or(os.Getenv("COMSPEC"), "cmd.exe") }

// Received returns the events of the console, which must not end kubecascade while the command runs.
func Received() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// Ends reports whether an event ends a process that doesn't handle it.
func Ends(os.Signal) bool { return true }

// passesOn reports whether an event has to be sent to the command. The console sends its events to all its processes.
func passesOn(os.Signal) bool { return false }

// terminate kills the command, as Windows has no signal to end it.
func terminate(p *os.Process, _ bool) error { return p.Kill() }
