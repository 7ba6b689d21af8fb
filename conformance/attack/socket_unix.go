//go:build unix

package attack

// socket is a file descriptor as package syscall has it.
func socket(fd uintptr) int { return int(fd) }
