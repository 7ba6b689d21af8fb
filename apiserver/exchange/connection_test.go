package exchange

import (
	"net"
	"net/http/httptest"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/gzipped"
)

// addressed is a connection between two addresses.
type addressed struct {
	net.Conn
	client, server net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.client }
func (a addressed) LocalAddr() net.Addr  { return a.server }

// TestReach: a client is near if its address is this host's.
func TestReach(t *testing.T) {
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
	for _, c := range []struct {
		client, server net.Addr
		want           gzipped.Reach
	}{
		{tcp("127.0.0.1"), tcp("127.0.0.1"), gzipped.Near},
		{tcp("::1"), tcp("::1"), gzipped.Near},
		{tcp("::ffff:127.0.0.2"), tcp("127.0.0.2"), gzipped.Near},
		{tcp("192.0.2.7"), tcp("192.0.2.7"), gzipped.Near},
		{tcp("2001:db8::7"), tcp("2001:db8::7"), gzipped.Near},
		{tcp("192.0.2.7"), tcp("192.0.2.8"), gzipped.Far},
		{tcp("192.0.2.7"), nil, gzipped.Far},
		{&net.UnixAddr{Name: "socket"}, nil, gzipped.Far},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r = r.WithContext(ConnContext(r.Context(), addressed{client: c.client, server: c.server}))
		if got := Reach(r); got != c.want {
			t.Errorf("a client at %v of a server at %v: %v", c.client, c.server, got)
		}
	}
	if got := Reach(httptest.NewRequest("GET", "/", nil)); got != gzipped.Far {
		t.Errorf("without a connection: %v", got)
	}
}
