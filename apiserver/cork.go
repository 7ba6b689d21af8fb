package apiserver

import (
	"context"
	"net"
	"net/http"
	"syscall"
)

// connection is the key of a request's connection in its context.
type connection struct{}

// ConnContext is for http.Server: it lets large answers be sent in large pieces. Without it they take longer.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, c)
}

// cork holds back what isn't a whole segment on the request's connection until release is called, or for the
// fifth of a second that the kernel allows. TLS sends records of 16 KiB, each of which would wake the client.
// Requests over HTTP/2 share their connection with others, which mustn't wait for this one.
func cork(r *http.Request) (release func()) {
	c, _ := r.Context().Value(connection{}).(net.Conn)
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	under, ok := c.(syscall.Conn)
	if !ok || r.ProtoMajor != 1 {
		return func() {}
	}
	raw, err := under.SyscallConn()
	if err != nil {
		return func() {}
	}
	setCork(raw, true)
	return func() { setCork(raw, false) }
}
