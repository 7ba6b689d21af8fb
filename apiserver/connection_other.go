//go:build !linux

package apiserver

import "syscall"

// setUnsent is for Linux alone.
func setUnsent(syscall.RawConn, int) {}
