package server

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections in memory.
type pipes struct {
	conns chan net.Conn
}

func (p *pipes) Accept() (net.Conn, error) {
	c, ok := <-p.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p *pipes) Close() error   { return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// TestSlowHeaders: a connection is closed in time if it sends no request, half of one, or none after the first, and
// headers that are too large are rejected.
func TestSlowHeaders(t *testing.T) {
	for what, c := range map[string]struct {
		sends, receives string
		within          time.Duration
	}{
		"nothing":       {"", "", 33 * time.Second},
		"half a header": {"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "", 33 * time.Second},
		"no more":       {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "200 OK", 91 * time.Second},
		"too much": {
			"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2<<20), "431 Request Header Fields Too Large",
			33 * time.Second,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newHTTPServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), slog.New(slog.DiscardHandler))
			l := &pipes{make(chan net.Conn, 1)}
			served := make(chan error, 1)
			go func() { served <- s.Serve(l) }()
			client, server := net.Pipe()
			defer client.Close()
			l.conns <- server
			go io.WriteString(client, c.sends) // the server may not read it to its end
			began := time.Now()
			received, err := io.ReadAll(client)
			if err != nil || !strings.Contains(string(received), c.receives) || c.receives == "" && len(received) > 0 {
				t.Errorf("%s: %v %q", what, err, received)
			}
			if took := time.Since(began); took > c.within {
				t.Errorf("%s: the connection was open for %v", what, took)
			}
			close(l.conns)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := <-served; !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		})
	}
}
