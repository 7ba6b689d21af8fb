package exchange

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// setCork changes TCP_CORK. An error costs only speed, or the connection is broken.
func setCork(c syscall.RawConn, on bool) {
	value := 0
	if on {
		value = 1
	}
	_ = c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CORK, value) })
}

// setUnsent changes TCP_NOTSENT_LOWAT. An error costs only kernel memory.
func setUnsent(c syscall.RawConn, bytes int) {
	_ = c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}
