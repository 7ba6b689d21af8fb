package server

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
)

// ports are the open listeners.
type ports struct{ insecure, secure net.Listener }

func (c *Config) listen() (p ports, err error) {
	if c.Insecure.Port != 0 {
		if p.insecure, err = listen(c.Insecure, "insecure-port"); err != nil {
			return p, err
		}
	}
	if p.secure, err = listen(c.Secure, "secure-port"); err != nil {
		p.close()
	}
	return p, err
}

// listen opens a port; the error names the flag for another one.
func listen(a Address, flag string) (net.Listener, error) {
	ln, err := net.Listen("tcp", net.JoinHostPort(a.Host, strconv.Itoa(max(a.Port, 0))))
	if err != nil {
		return nil, fmt.Errorf("opening port %d (choose another with --%s): %w", a.Port, flag, err)
	}
	return ln, nil
}

// close closes the listeners if no server was started; a server closes its listener itself.
func (p ports) close() {
	for _, ln := range []net.Listener{p.insecure, p.secure} {
		if ln != nil {
			_ = ln.Close() // closed already, as a rule
		}
	}
}

func (p ports) secureURL() string { return "https://" + reachable(p.secure.Addr()) }

// externalURL is secureURL by another host; empty for the same one.
func (p ports) externalURL(host string) string {
	if host == "" {
		return p.secureURL()
	}
	return "https://" + net.JoinHostPort(host, strconv.Itoa(p.secure.Addr().(*net.TCPAddr).Port))
}

// hosts are the names and addresses of the serving certificate.
func (c *Config) hosts() []string {
	hosts := append(slices.Clone(c.Hosts), c.Secure.Host)
	if c.ExternalHostname != "" {
		hosts = append(hosts, c.ExternalHostname)
	}
	return hosts
}

// insecureURL is empty without that port.
func (p ports) insecureURL() string {
	if p.insecure == nil {
		return ""
	}
	return "http://" + reachable(p.insecure.Addr())
}

// reachable is an address for clients on this machine: an unspecified one is replaced.
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
	// maxHeader bounds what is read before the client is authenticated.
	maxHeader = 512 << 10
	// maxStreams is how many requests of a connection are in progress. maxFrame is the smallest that HTTP/2 allows.
	maxStreams = 100
	maxFrame   = 16 << 10
)

// newHTTPServer limits what a client can block; responses have no timeout, because of watches.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelInfo),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, MaxReadFrameSize: maxFrame,
			MaxReceiveBufferPerConnection: connections.Window, MaxReceiveBufferPerStream: connections.Window,
			WriteByteTimeout: connections.SendTime, // ends connections whose client takes no byte
		},
		ConnContext: exchange.ConnContext,
		ConnState:   func(c net.Conn, s http.ConnState) { connections.Of(c).SetUnused(s == http.StateIdle) },
	}
}
