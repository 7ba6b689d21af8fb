//go:build !windows

package main

import (
	"os"
	"syscall"
)

// receptive returns the attributes of a process that send can reach.
func receptive() *syscall.SysProcAttr { return nil }

// send sends a signal to a process.
func send(p *os.Process, s os.Signal) error { return p.Signal(s) }
