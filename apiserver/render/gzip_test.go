package render

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestCompressesForOtherMachines: a response to a client that accepts gzip is compressed unless the client is on this
// machine.
func TestCompressesForOtherMachines(t *testing.T) {
	for _, c := range []struct {
		client, server, accept string
		want                   bool
	}{
		{"127.0.0.1", "127.0.0.1", "gzip", false},
		{"::1", "::1", "gzip", false},
		{"::ffff:127.0.0.2", "127.0.0.2", "gzip", false},
		{"192.0.2.7", "192.0.2.7", "gzip", false},
		{"2001:db8::7", "2001:db8::7", "gzip", false},
		{"192.0.2.7", "192.0.2.8", "gzip", true},
		{"192.0.2.7", "192.0.2.8", "deflate, gzip", true},
		{"192.0.2.7", "192.0.2.8", "gzip;q=0.5", false},
		{"192.0.2.7", "192.0.2.8", "identity", false},
		{"192.0.2.7", "", "gzip", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", c.accept)
		r.RemoteAddr = net.JoinHostPort(c.client, "1234")
		if c.server != "" {
			at := &net.TCPAddr{IP: net.ParseIP(c.server), Port: 6443}
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, at))
		}
		if got := Compresses(r); got != c.want {
			t.Errorf("client %s, server %s, %s: %v", c.client, c.server, c.accept, got)
		}
	}
}
