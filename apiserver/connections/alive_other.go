//go:build !unix

package connections

import "net"

// alive reports whether the peer has not closed the connection. That is not known on this platform.
func alive(net.Conn) bool { return true }
