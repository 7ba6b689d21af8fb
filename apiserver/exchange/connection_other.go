//go:build !linux

package exchange

import "syscall"

// setCork does nothing: only Linux has the option.
func setCork(syscall.RawConn, bool) {}

// setUnsent does nothing: only Linux has the option.
func setUnsent(syscall.RawConn, int) {}
