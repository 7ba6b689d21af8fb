//go:build unix

package connections

import (
	"net"
	"syscall"
)

// alive reports whether the peer has not closed the connection, as far as is known without blocking.
func alive(c net.Conn) bool {
	under, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := under.SyscallConn()
	if err != nil {
		return false
	}
	open := true
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		open = n > 0 || err == syscall.EAGAIN || err == syscall.EINTR
		return true
	})
	return open && err == nil
}
