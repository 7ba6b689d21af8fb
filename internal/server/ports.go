package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/net/netutil"
)

// ports has the open listeners and their servers.
type ports struct {
	// insecure and http are nil without a plain HTTP port.
	insecure net.Listener
	http     *http.Server
	secure   *drainListener
	https    *http.Server
}

func (s *Server) openPorts(context.Context) (err error) {
	c, p := s.config, &s.ports
	s.addUndo(func() error { p.close(); return nil })
	if c.Insecure.Port != 0 {
		if p.insecure, err = listen(c.Insecure, "insecure-port"); err != nil {
			return err
		}
	}
	secure, err := listen(c.Secure, "secure-port")
	if err != nil {
		return err
	}
	p.secure = &drainListener{Listener: secure}
	return nil
}

// listen opens a port; the error names the flag for another one.
func listen(a Address, flag string) (net.Listener, error) {
	ln, err := net.Listen("tcp", net.JoinHostPort(a.Host, strconv.Itoa(max(a.Port, 0))))
	if err != nil {
		return nil, fmt.Errorf("opening port %d (choose another with --%s): %w", a.Port, flag, err)
	}
	return netutil.LimitListener(ln, maxConnections), nil
}

// close closes the listeners if no server was started; a server closes its listener itself.
func (p *ports) close() {
	if p.insecure != nil {
		_ = p.insecure.Close() // usually closed already
	}
	if p.secure != nil {
		_ = p.secure.Close() // as above
	}
}

func (p *ports) secureURL() string { return "https://" + reachable(p.secure.Addr()) }

// externalURL returns secureURL with another host; with an empty host it returns secureURL.
func (p *ports) externalURL(host string) string {
	if host == "" {
		return p.secureURL()
	}
	return "https://" + net.JoinHostPort(host, strconv.Itoa(p.secure.Addr().(*net.TCPAddr).Port))
}

// hosts returns the names and addresses of the serving certificate.
func (c *Config) hosts() []string {
	hosts := append(slices.Clone(c.Hosts), c.Secure.Host)
	if c.ExternalHostname != "" {
		hosts = append(hosts, c.ExternalHostname)
	}
	return hosts
}

// insecureURL returns the URL of the plain HTTP port; empty if there is none.
func (p *ports) insecureURL() string {
	if p.insecure == nil {
		return ""
	}
	return "http://" + reachable(p.insecure.Addr())
}

// reachable returns an address for clients on this machine: an unspecified one is replaced.
func reachable(a net.Addr) string {
	t := a.(*net.TCPAddr)
	ip := t.IP
	if ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
	}
	return net.JoinHostPort(ip.String(), fmt.Sprint(t.Port))
}

// Limits of connections. docs/limits.md lists those of sizes and numbers.
const (
	// headerTimeout is less than a request's 34 seconds, idleTimeout is that of Go's clients; both are kube-apiserver's
	// (AS pkg/server/secure_serving.go).
	headerTimeout = 32 * time.Second
	idleTimeout   = 90 * time.Second
	// maxHeader limits the bytes that are read before the client is authenticated.
	maxHeader = 256 << 10
	// maxStreams is the maximum number of concurrent requests on a connection. maxFrame is the smallest frame size that
	// HTTP/2 allows.
	maxStreams = 100
	maxFrame   = 16 << 10
	// maxWindow is the number of bytes of bodies that an HTTP/2 connection buffers before handlers read them.
	maxWindow = 64 << 10
	// pingTimeout is the time without a frame after which an HTTP/2 connection is pinged, and the time for which a
	// client may accept no bytes.
	pingTimeout = 30 * time.Second
	// maxConnections is the limit for each port. Further connections wait until others are closed.
	maxConnections = 5000
)

// newHTTPServer returns a server that limits what a client can block; responses have no timeout, because of watches.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelInfo),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, MaxReadFrameSize: maxFrame,
			MaxReceiveBufferPerConnection: maxWindow, MaxReceiveBufferPerStream: maxWindow,
			SendPingTimeout: pingTimeout, WriteByteTimeout: pingTimeout, // they end connections whose clients are gone
		},
	}
}
