package apiserver

import "syscall"

// setCork changes TCP_CORK. What goes wrong makes no difference but in speed, or ends the connection.
func setCork(c syscall.RawConn, on bool) {
	value := 0
	if on {
		value = 1
	}
	_ = c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CORK, value) })
}
