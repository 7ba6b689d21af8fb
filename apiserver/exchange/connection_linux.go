package exchange

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// setUnsent changes TCP_NOTSENT_LOWAT. What goes wrong makes no difference but in memory of the kernel.
func setUnsent(c syscall.RawConn, bytes int) {
	_ = c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}
