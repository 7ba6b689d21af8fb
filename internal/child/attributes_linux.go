package child

import "syscall"

// attributes let the system end the command when kubecascade is killed.
func attributes(shell bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: endSignal(shell)}
}
