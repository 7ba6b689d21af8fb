package main

import (
	"os"
	"syscall"
)

// endSignals are the console's events that end the process: Ctrl-C and Ctrl-Break, which Go has as os.Interrupt; the
// closing of the console, a logoff and a shutdown, which Go has as SIGTERM. After the latter the system gives a process
// some seconds.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
