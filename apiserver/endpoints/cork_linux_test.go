package endpoints_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"syscall"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
)

// TestLargeAnswers: large responses have a Content-Length unless they are compressed. On a connection without other
// streams they are sent in full segments. A client that doesn't read them blocks them in between.
func TestLargeAnswers(t *testing.T) {
	s := apiservertest.Start(t, nil)
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, 600<<10)
	for i := range 8 {
		_, _ = random.Read(data) // it never fails
		must(t, s.Do(
			"POST", configmaps,
			configmap("l"+strconv.Itoa(i), map[string]string{"k": base64.StdEncoding.EncodeToString(data)}, nil),
		), http.StatusCreated)
	}
	want := must(t, s.Do("GET", configmaps, nil), http.StatusOK).Body
	for _, c := range []struct {
		name                  string
		secure, http2, zipped bool
		corked                int
	}{
		{name: "plain", corked: 1},
		{name: "TLS", secure: true, corked: 1},
		{name: "compressed", secure: true, zipped: true, corked: 1},
		{name: "HTTP/2", secure: true, http2: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			port, conn := narrowPort(t, apiservertest.Remote(s.API.Insecure()), c.secure, c.http2)
			req, err := http.NewRequest("GET", port.URL+configmaps, nil)
			if err != nil {
				t.Fatal(err)
			}
			if req.Header.Set("Accept-Encoding", "identity"); c.zipped {
				req.Header.Set("Accept-Encoding", "gzip")
			}
			res, err := port.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			server := <-conn
			if got := corked(t, server); got != c.corked || (res.ProtoMajor == 2) != c.http2 {
				t.Errorf("%s: while it is sent TCP_CORK is %d, want %d", res.Proto, got, c.corked)
			}
			length, body := int64(len(want)), io.Reader(res.Body)
			if c.zipped {
				length = -1
				if body, err = gzip.NewReader(res.Body); err != nil {
					t.Fatal(err)
				}
			}
			got, err := io.ReadAll(body)
			if err != nil || !bytes.Equal(got, want) || res.ContentLength != length {
				t.Errorf(
					"%d bytes, %v, of a length told as %d; want %d and %d", len(got), err, res.ContentLength, len(want), length,
				)
			}
			small, err := port.Client().Get(port.URL + configmaps + "/none") // answered when the other is done with
			if err != nil || small.StatusCode != http.StatusNotFound {
				t.Fatalf("the next request: %v, %v", small, err)
			}
			defer small.Body.Close()
			if got := corked(t, server); got != 0 || len(conn) > 0 {
				t.Errorf("after it TCP_CORK is %d, on one of %d connections", got, 1+len(conn))
			}
		})
	}
}

// narrowPort serves on a port whose connections have small buffers; they are sent to conns. HTTP/2 has windows of its
// own for that.
func narrowPort(t *testing.T, h http.Handler, secure, http2 bool) (port *httptest.Server, conns chan *net.TCPConn) {
	conns = make(chan *net.TCPConn, 8)
	port = httptest.NewUnstartedServer(h)
	port.EnableHTTP2 = http2
	port.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		under := c
		if c, ok := c.(*tls.Conn); ok {
			under = c.NetConn()
		}
		tcp := under.(*net.TCPConn)
		if !http2 {
			_ = tcp.SetWriteBuffer(64 << 10) // if that fails, so does the test
		}
		conns <- tcp
		return exchange.ConnContext(ctx, c)
	}
	if secure {
		port.StartTLS()
	} else {
		port.Start()
	}
	t.Cleanup(port.Close)
	transport := port.Client().Transport.(*http.Transport)
	transport.DisableCompression = true
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil && !http2 {
			_ = c.(*net.TCPConn).SetReadBuffer(64 << 10) // as above
		}
		return c, err
	}
	return port, conns
}

// corked is TCP_CORK of a connection.
func corked(t *testing.T, c *net.TCPConn) (value int) {
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var e error
	if err := raw.Control(func(fd uintptr) {
		value, e = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_CORK)
	}); err != nil || e != nil {
		t.Fatal(err, e)
	}
	return value
}
