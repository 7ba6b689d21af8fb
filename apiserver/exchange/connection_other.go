//go:build !linux

package exchange

import "syscall"

// setUnsent is for Linux alone.
func setUnsent(syscall.RawConn, int) {}
