//go:build !linux

package child

import "syscall"

// attributes are those of any command: when kubecascade is killed, it goes on, or is ended by bind.
func attributes(bool) *syscall.SysProcAttr { return nil }
