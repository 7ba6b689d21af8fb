package main

import (
	"os"
	"syscall"
)

// endSignals returns the signals that end the process. Go maps Ctrl-C and Ctrl-Break to os.Interrupt, and the closing
// of the console, a logoff and a shutdown to SIGTERM. After these three the system gives the process some seconds.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
