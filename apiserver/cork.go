package apiserver

import (
	"context"
	"crypto/tls"
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

// ConnContext is for http.Server: it lets large answers be sent in large pieces. Without it they take longer. It bounds
// what waits in the kernel for a client that doesn't read, too.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if raw := rawConn(c); raw != nil {
		setUnsent(raw, maxUnsent)
	}
	return context.WithValue(ctx, connection{}, c)
}

// connectionOf is a request's connection, if it counts (see Server.Listen); else nil.
func connectionOf(r *http.Request) *connections.Conn {
	c, _ := r.Context().Value(connection{}).(net.Conn)
	return connections.Of(c)
}

// Listen returns a listener whose connections count (see package connections): what clients keep that have sent no
// whole request, or have a connection only, is bounded. Connections of other listeners are not.
func (s *Server) Listen(l net.Listener) net.Listener { return s.connections.Listen(l) }

// ListenTLS is Listen for connections that speak TLS.
func (s *Server) ListenTLS(l net.Listener, config *tls.Config) net.Listener {
	return s.connections.ListenTLS(l, config, s.log)
}

// cork holds back what isn't a whole segment on the request's connection until release is called, or for the
// fifth of a second that the kernel allows. TLS sends records of 16 KiB, each of which would wake the client.
// Requests over HTTP/2 share their connection with others, which mustn't wait for this one.
func cork(r *http.Request) (release func()) {
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
