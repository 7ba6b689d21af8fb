package exchange

import (
	"context"
	"net"
	"net/http"
	"syscall"

	"github.com/kubecascade/kubecascade/apiserver/connections"
)

// maxUnsent is how many bytes of a response may wait in the kernel to be sent, besides those in flight. The kernel
// would buffer megabytes for each client that does not read.
const maxUnsent = 256 << 10

// connection is the context key of a request's connection.
type connection struct{}

// ConnContext is for http.Server: it stores the connection in the context of its requests. It limits what the kernel
// buffers for a client that does not read.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if raw := rawConn(c); raw != nil {
		setUnsent(raw, maxUnsent)
	}
	return context.WithValue(ctx, connection{}, c)
}

// ConnectionOf returns a request's connection if it counts (see Server.Listen); else nil.
func ConnectionOf(r *http.Request) *connections.Conn {
	c, _ := r.Context().Value(connection{}).(net.Conn)
	return connections.Of(c)
}

// Cork holds back partial TCP segments on the request's connection until release is called, or for the 200 ms that the
// kernel allows. TLS sends records of 16 KiB, each of which would wake the client. Requests over HTTP/2 share their
// connection with others, which must not wait for this one. Over HTTP/1.1, which clients in Python use, it saves a
// fifth of the server's time for a list of 640 KB.
func Cork(r *http.Request) (release func()) {
	c, _ := r.Context().Value(connection{}).(net.Conn)
	raw := rawConn(c)
	if raw == nil || r.ProtoMajor != 1 {
		return func() {}
	}
	setCork(raw, true)
	return func() { setCork(raw, false) }
}

// rawConn returns the socket below TLS; nil if there is none.
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
