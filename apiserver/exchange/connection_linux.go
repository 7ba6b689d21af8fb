package exchange

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// setCork changes TCP_CORK. What goes wrong makes no difference but in speed, or ends the connection.
func setCork(c syscall.RawConn, on bool) {
	value := 0
	if on {
		value = 1
	}
	_ = c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CORK, value) })
}

// setUnsent changes TCP_NOTSENT_LOWAT. What goes wrong makes no difference but in memory of the kernel.
func setUnsent(c syscall.RawConn, bytes int) {
	_ = c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}
