package child

import "syscall"

// attributes returns attributes with which the system ends the command when kubecascade is killed.
func attributes(shell bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: endSignal(shell)}
}
