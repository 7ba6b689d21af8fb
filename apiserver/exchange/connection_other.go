//go:build !linux

package exchange

import "syscall"

// setCork is for Linux alone.
func setCork(syscall.RawConn, bool) {}

// setUnsent is for Linux alone.
func setUnsent(syscall.RawConn, int) {}
