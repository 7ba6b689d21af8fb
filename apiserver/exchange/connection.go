package exchange

import (
	"context"
	"net"
	"net/http"
	"syscall"

	"github.com/kubecascade/kubecascade/apiserver/connections"
)

// maxUnsent is how many bytes of an answer may wait in the kernel for being sent, besides those on the way to the
// client. The kernel would take megabytes for each of many clients that don't read.
const maxUnsent = 256 << 10

// connection is the key of a request's connection in its context.
type connection struct{}

// ConnContext is for http.Server: requests know their connections by it. It bounds what waits in the kernel for a
// client that doesn't read.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if raw := rawConn(c); raw != nil {
		setUnsent(raw, maxUnsent)
	}
	return context.WithValue(ctx, connection{}, c)
}

// ConnectionOf is a request's connection, if it counts (see Server.Listen); else nil.
func ConnectionOf(r *http.Request) *connections.Conn {
	c, _ := r.Context().Value(connection{}).(net.Conn)
	return connections.Of(c)
}

// Cork holds back what isn't a whole segment on the request's connection until release is called, or for the fifth of a
// second that the kernel allows. TLS sends records of 16 KiB, each of which would wake the client. Requests over HTTP/2
// share their connection with others, which mustn't wait for this one. Over HTTP/1.1, which clients in Python speak, it
// saves a fifth of the server's time for a list of 640 KB.
func Cork(r *http.Request) (release func()) {
	c, _ := r.Context().Value(connection{}).(net.Conn)
	raw := rawConn(c)
	if raw == nil || r.ProtoMajor != 1 {
		return func() {}
	}
	setCork(raw, true)
	return func() { setCork(raw, false) }
}

// rawConn is the connection below TLS; nil if it is none of the kernel's.
func rawConn(c net.Conn) syscall.RawConn {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	under, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := under.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
