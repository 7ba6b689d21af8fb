//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endSignals returns the signals that end the process: SIGINT, SIGTERM, and SIGHUP unless nohup(1) ignores it.
func endSignals() []os.Signal {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	return ends
}
