//go:build !linux

package main

import "syscall"

// attributes are those of any command: it goes on when kubecascade is killed.
func attributes(bool) *syscall.SysProcAttr { return nil }
