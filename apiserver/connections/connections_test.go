package connections

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/pki"
)

// pairs hands out connections by name, and knows which were closed.
type pairs struct {
	t     *testing.T
	table *Table
	ln    net.Listener
	conns map[string]*Conn
	peers map[string]net.Conn
}

func newPairs(t *testing.T, limit int64) *pairs {
	t.Helper()
	under, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pairs{t: t, table: New(limit, 1), conns: map[string]*Conn{}, peers: map[string]net.Conn{}}
	p.ln = p.table.Listen(under, false)
	t.Cleanup(func() { p.ln.Close() })
	return p
}

func (p *pairs) open(names ...string) {
	p.t.Helper()
	for _, name := range names {
		peer, err := net.Dial("tcp", p.ln.Addr().String())
		if err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() { peer.Close() })
		c, err := p.ln.Accept()
		if err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() { c.Close() })
		p.peers[name], p.conns[name] = peer, c.(*Conn)
	}
}

// send sends bytes that the server reads, all in one request.
func (p *pairs) send(name string, n int) {
	p.t.Helper()
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(p.peers[name], strings.Repeat("x", n))
		sent <- err
	}()
	if _, err := io.ReadFull(p.conns[name], make([]byte, n)); err != nil && !errors.Is(err, net.ErrClosed) {
		p.t.Fatal(err)
	}
	p.conns[name].Conn.SetReadDeadline(time.Time{})
	<-sent
}

// closed are the names of connections that were closed, in order of their names.
func (p *pairs) closed() (out []string) {
	for name, c := range p.conns {
		if c.Conn.SetDeadline(time.Time{}) != nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (p *pairs) want(closed ...string) {
	p.t.Helper()
	if got := p.closed(); !slices.Equal(got, closed) {
		p.t.Errorf("%v are closed, want %v", got, closed)
	}
	bytes, n := p.table.Counts()
	if n != int64(len(closed)) {
		p.t.Errorf("%d are said to be closed", n)
	}
	sum := int64(0)
	for i := range p.table.of {
		all := &p.table.of[i]
		of := int64(0)
		for name, a := range all.by {
			one := int64(0)
			for _, l := range []int{a.short.Len(), a.long.Len()} {
				one += int64(l) * Each
			}
			if a.bytes < one || a.bytes == 0 {
				p.t.Errorf("%q has %d bytes in %d connections", name, a.bytes, one/Each)
			}
			of += a.bytes
		}
		if of != all.bytes || of > p.table.limit {
			p.t.Errorf("%d bytes of %d in %d", of, all.bytes, p.table.limit)
		}
		sum += of
	}
	if sum != bytes {
		p.t.Errorf("%d bytes, not %d", bytes, sum)
	}
}

// TestOldest: of connections that are nobody's the oldest goes, and none that is somebody's.
func TestOldest(t *testing.T) {
	p := newPairs(t, 4*Each)
	p.open("a", "b", "c", "d")
	p.want()
	p.conns["a"].Own("alice", false)
	p.open("e")
	p.want("b")
	p.open("f", "g")
	p.want("b", "c", "d")
}

// TestMost: who has the most connections loses one, whoever opens another.
func TestMost(t *testing.T) {
	p := newPairs(t, 6*Each)
	p.open("a", "b", "c", "d", "e")
	for _, name := range []string{"a", "b", "c", "d"} {
		p.conns[name].Own("mallory", false)
	}
	p.conns["e"].Own("alice", false)
	p.open("f", "g")
	p.want("a")
	p.conns["g"].Own("alice", false)
	p.open("h")
	p.want("a", "b")
}

// TestMasters have room of their own.
func TestMasters(t *testing.T) {
	p := newPairs(t, 2*Each)
	p.open("a")
	p.conns["a"].Own("root", true)
	p.open("b")
	p.conns["b"].Own("root", true)
	p.open("c", "d")
	p.want()
	p.open("e")
	p.want("c")
}

// TestLong: long parts of requests count, until a request begins; those who send them go first.
func TestLong(t *testing.T) {
	p := newPairs(t, 4*Each+Most)
	p.open("a", "b", "c")
	p.send("b", Most-step)
	p.want()
	if n, _ := p.table.Counts(); n != 3*Each+Most-step {
		t.Errorf("%d bytes", n)
	}
	p.conns["b"].Begin()
	if n, _ := p.table.Counts(); n != 3*Each {
		t.Errorf("%d bytes when a request has begun", n)
	}
	p.send("b", 2*Most)
	if n, _ := p.table.Counts(); n != 3*Each+Most {
		t.Errorf("%d bytes of a long body", n)
	}
	p.send("c", 4*step)
	p.want("b")
	p.conns["c"].Begin()
	p.conns["c"].Close()
	p.conns["c"].Close()
	p.conns["c"].Own("late", false)
	if n, _ := p.table.Counts(); n != Each {
		t.Errorf("%d bytes when one is left", n)
	}
	var none *Conn
	none.Begin()
	none.Own("a", false)
}

// TestHandshakes: as many are computed at a time as are allowed, and clients that say nothing, or a part of what they
// have to, keep no others from theirs.
func TestHandshakes(t *testing.T) {
	certificates, err := pki.Ensure(pki.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	under, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, goOn := make(chan struct{}, 10), make(chan struct{})
	config := certificates.TLS()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		begun <- struct{}{}
		<-goOn
		return nil, nil
	}
	server := &http.Server{TLSConfig: config, Handler: http.NotFoundHandler(), ErrorLog: log.New(t.Output(), "", 0)}
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(New(1<<20, 1).Listen(under, true), "", "") }()
	defer func() {
		server.Close()
		<-served
	}()
	for _, part := range []string{"", "\x16", "\x16\x03\x01\x02\x00\x01"} {
		c, err := net.Dial("tcp", under.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, part); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificates.Authority())
	done := make(chan error, 3)
	for range cap(done) {
		go func() {
			c, err := tls.Dial("tcp", under.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "localhost"})
			if err == nil {
				c.Close()
			}
			done <- err
		}()
	}
	for range cap(done) {
		<-begun
		select {
		case <-begun:
			t.Error("two handshakes are computed at a time")
		case <-time.After(20 * time.Millisecond): // there is no event that says that nothing happens
		}
		goOn <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
