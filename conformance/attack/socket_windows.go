package attack

import "syscall"

// socket is a file descriptor as package syscall has it.
func socket(fd uintptr) syscall.Handle { return syscall.Handle(fd) }
