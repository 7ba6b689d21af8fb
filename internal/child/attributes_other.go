//go:build !linux

package child

import "syscall"

// attributes returns no special attributes: when kubecascade is killed, the command continues, or bind ends it.
func attributes(bool) *syscall.SysProcAttr { return nil }
