package connections

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// pairs hands out connections by name, and knows which were closed.
type pairs struct {
	t     *testing.T
	table *Table
	ln    net.Listener
	conns map[string]*Conn
	// from is the address of those that are opened.
	from  string
	peers map[string]net.Conn
}

func newPairs(t *testing.T, limit int64) *pairs {
	t.Helper()
	under, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	table := New(limit, 1, turns.New[Owner](1, 1, 0))
	p := &pairs{t: t, table: table, conns: map[string]*Conn{}, peers: map[string]net.Conn{}}
	p.table.of[addresses].limit = limit
	p.ln = p.table.Listen(under)
	t.Cleanup(func() { p.ln.Close() })
	return p
}

func (p *pairs) open(names ...string) {
	p.t.Helper()
	for _, name := range names {
		d := net.Dialer{}
		if p.from != "" {
			d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(p.from)}
		}
		peer, err := d.Dial("tcp", p.ln.Addr().String())
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
				p.t.Errorf("%v has %d bytes in %d connections", name, a.bytes, one/Each)
			}
			of += a.bytes
		}
		if of != all.bytes || of > all.limit {
			p.t.Errorf("%d bytes of %d in %d", of, all.bytes, all.limit)
		}
		sum += of
	}
	if sum != bytes {
		p.t.Errorf("%d bytes, not %d", bytes, sum)
	}
}

// TestAddresses: connections from an address that has many are closed, not one of another.
func TestAddresses(t *testing.T) {
	p := newPairs(t, 4*Each)
	p.from = "127.0.0.2"
	p.open("a")
	p.from = "127.0.0.3"
	p.open("b", "c", "d", "e")
	p.want("b")
}

// TestCertificates: a long handshake counts as long as the connection is there.
func TestCertificates(t *testing.T) {
	p := newPairs(t, 1<<20)
	p.open("a")
	c := p.table.conn(p.conns["a"].Conn)
	c.hello = 10_000
	p.table.enter(c)
	c.Rest()
	if n, _ := p.table.Counts(); n != 2*Each+10_000*Parsed {
		t.Errorf("%d bytes", n)
	}
}

// TestTurns: the latest that waits is next, and one that is gone isn't.
func TestTurns(t *testing.T) {
	turns := &handshakes{free: 1}
	never, gone := make(chan struct{}), make(chan struct{})
	if !turns.take(never) {
		t.Fatal("there is no place")
	}
	took := make(chan string, 3)
	wait := func(name string, until chan struct{}) {
		n := turns.count()
		go func() {
			if !turns.take(until) {
				name += " is gone"
			}
			took <- name
		}()
		for turns.count() == n {
			time.Sleep(100 * time.Microsecond)
		}
	}
	wait("first", never)
	wait("second", never)
	wait("third", gone)
	close(gone)
	var order []string
	for range 3 {
		order = append(order, <-took)
		turns.give()
	}
	if want := []string{"third is gone", "second", "first"}; !slices.Equal(order, want) {
		t.Errorf("%v", order)
	}
}

// TestOldest: of an address's connections the oldest goes, and none of a user's.
func TestOldest(t *testing.T) {
	p := newPairs(t, 4*Each)
	p.open("a", "b", "c", "d")
	p.want()
	p.conns["a"].Own("alice", false)
	p.open("e")
	p.want()
	p.open("f", "g")
	p.want("b", "c")
}

// TestMost: the owner with the most connections loses one when any owner opens another.
func TestMost(t *testing.T) {
	p := newPairs(t, 6*Each)
	p.open("a", "b", "c", "d", "e")
	for _, name := range []string{"a", "b", "c", "d"} {
		p.conns[name].Own("mallory", false)
	}
	p.conns["e"].Own("alice", false)
	p.open("f", "g", "h")
	p.conns["g"].Own("alice", false)
	p.want()
	p.conns["f"].Own("alice", false)
	p.want("a")
	p.conns["h"].Own("bob", false)
	p.want("a", "b")
}

// TestStrangers: connections on which no one has been authenticated close none of a user's, however many addresses they
// come from; of addresses that have equally many the one goes that was there first.
func TestStrangers(t *testing.T) {
	p := newPairs(t, 3*Each)
	p.open("a", "b", "c")
	for _, name := range []string{"a", "b", "c"} {
		p.conns[name].Own("alice", false)
	}
	for i, name := range []string{"k", "l", "m", "n", "o"} {
		p.from = fmt.Sprintf("127.0.0.%d", 2+i)
		p.open(name)
	}
	p.want("k", "l")
}

// TestNetwork: a client has half of an IPv6 address to itself.
func TestNetwork(t *testing.T) {
	for host, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
		"::ffff:192.0.2.7": "::ffff:192.0.2.7", "pipe": "pipe",
	} {
		if got := network(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
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
	p.conns["b"].Rest()
	if n, _ := p.table.Counts(); n != 3*Each {
		t.Errorf("%d bytes when a request has begun", n)
	}
	p.send("b", 2*Most)
	if n, _ := p.table.Counts(); n != 3*Each+Most {
		t.Errorf("%d bytes of a long body", n)
	}
	p.send("c", 4*step)
	p.want("b")
	p.conns["c"].Rest()
	p.conns["c"].Close()
	p.conns["c"].Close()
	p.conns["c"].Own("late", false)
	if n, _ := p.table.Counts(); n != Each {
		t.Errorf("%d bytes when one is left", n)
	}
	var none *Conn
	none.Rest()
	none.Own("a", false)
}

// secure is a listener for TLS, and the certificate that it shows.
func secure(t *testing.T, places int, change func(*tls.Config)) (*secureListener, *tls.Config) {
	t.Helper()
	certificates, err := pki.Ensure(pki.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	under, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config, err := certificates.TLS(pki.TLSOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(config)
	}
	table := New(1<<20, places, turns.New[Owner](1, 1, 0))
	l := table.ListenTLS(under, config, slog.New(slog.DiscardHandler)).(*secureListener)
	t.Cleanup(func() { l.Close() })
	roots := x509.NewCertPool()
	roots.AddCert(certificates.Authority())
	return l, &tls.Config{RootCAs: roots, ServerName: "localhost"}
}

// drain accepts connections, and closes them.
func drain(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close()
	}
}

// shake connects and shakes hands.
func shake(l net.Listener, config *tls.Config) error {
	c, err := tls.Dial("tcp", l.Addr().String(), config)
	if err == nil {
		err = c.Close()
	}
	return err
}

// TestHandshakes: as many are computed at a time as are allowed, and clients that say nothing, or a part of what they
// have to, keep no others from theirs.
func TestHandshakes(t *testing.T) {
	begun, goOn := make(chan struct{}, 10), make(chan struct{})
	l, config := secure(t, 1, func(c *tls.Config) {
		c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			begun <- struct{}{}
			<-goOn
			return nil, nil
		}
	})
	go drain(l)
	for _, part := range []string{"", "\x16", "\x16\x03\x01\x02\x00\x01"} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, part); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 3)
	for range cap(done) {
		go func() { done <- shake(l, config) }()
	}
	for i := range cap(done) {
		<-begun
		for l.table.handshakes.count() < cap(done)-1-i {
			time.Sleep(100 * time.Microsecond)
		}
		if len(begun) > 0 {
			t.Error("two handshakes are computed at a time")
		}
		goOn <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestFlood: of very many that don't go on with their handshakes the oldest are closed, and another succeeds.
func TestFlood(t *testing.T) {
	l, config := secure(t, 1, nil)
	go drain(l)
	for range maxSilent + 10 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if err := shake(l, config); err != nil {
		t.Error(err)
	}
	if _, closed := l.table.Counts(); closed == 0 || closed > 11 {
		t.Errorf("%d are closed", closed)
	}
}

// TestGone: nothing is computed for a client that has hung up.
func TestGone(t *testing.T) {
	asked := make(chan struct{}, 2)
	first := make(chan struct{})
	l, config := secure(t, 1, func(c *tls.Config) {
		c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			asked <- struct{}{}
			<-first
			return nil, nil
		}
	})
	go drain(l)
	done := make(chan error, 1)
	go func() { done <- shake(l, config) }()
	<-asked // it has the only place
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	dead := tls.Client(c, config)
	go func() { _ = dead.Handshake() }()
	for l.table.handshakes.count() == 0 {
		time.Sleep(100 * time.Microsecond)
	}
	c.Close()
	close(first)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := shake(l, config); err != nil {
		t.Error(err)
	}
	if n := len(asked); n != 1 { // the second that succeeds
		t.Errorf("%d handshakes were computed", n)
	}
}

// TestLongHello: certificates that are too long end the handshake.
func TestLongHello(t *testing.T) {
	l, config := secure(t, 1, nil)
	accepted := make(chan net.Conn, 2)
	go func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 4000)
	for i := range names {
		names[i] = fmt.Sprint("name", i)
	}
	for n, good := range map[int]bool{10: true, 4000: false} {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names[:n], NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		c := config.Clone()
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // of whatever authority
			return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
		}
		conn, err := tls.Dial("tcp", l.Addr().String(), c)
		if good {
			if err != nil {
				t.Fatal(err)
			}
			(<-accepted).Close()
		}
		if err == nil { // in TLS 1.3 the client learns only now that its part was rejected
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		if err == nil || len(accepted) > 0 {
			t.Errorf("%d names: %v, %d accepted", n, err, len(accepted))
		}
	}
}

// TestPlainHTTP: a client that doesn't speak TLS gets a message that says so.
func TestPlainHTTP(t *testing.T) {
	l, _ := secure(t, 1, nil)
	go drain(l)
	r, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusBadRequest ||
		!strings.Contains(string(body), "HTTP request to an HTTPS server") {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

// TestServer: net/http serves HTTP/2 and HTTP/1.1 over the connections, and its end is the listener's.
func TestServer(t *testing.T) {
	l, config := secure(t, 1, nil)
	proto := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })
	server := &http.Server{TLSConfig: l.config, Handler: proto, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	for _, h2 := range []bool{false, true} {
		transport := &http.Transport{TLSClientConfig: config.Clone(), ForceAttemptHTTP2: h2}
		r, err := (&http.Client{Transport: transport}).Get("https://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		transport.CloseIdleConnections()
		if want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[h2]; string(body) != want {
			t.Errorf("%s instead of %s", body, want)
		}
	}
	c, err := net.Dial("tcp", l.Addr().String()) // it says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// TestQueue: room is made by the oldest of an address that has many handshakes, else by the oldest of all.
func TestQueue(t *testing.T) {
	var q queue
	conns := map[string]*Conn{}
	add := func(network string, names ...string) {
		for _, name := range names {
			conns[name] = &Conn{network: network}
			q.add(conns[name])
		}
	}
	want := func(name string) {
		t.Helper()
		c := q.next()
		if c == nil || c != conns[name] {
			t.Fatalf("it isn't %s", name)
		}
		if !q.remove(c) || q.remove(c) {
			t.Error("it is removed once")
		}
	}
	for i := range 20 {
		add(fmt.Sprint("far", i), fmt.Sprint("f", i))
	}
	add("near", "n1", "n2")
	want("f0")
	want("f1")
	add("near", "n3")
	want("n1")
	want("f2")
	for q.next() != nil {
		q.remove(q.next())
	}
	if q.len() != 0 || len(q.by) != 0 || len(q.largest) != 0 {
		t.Errorf("%d, %d and %d are left", q.len(), len(q.by), len(q.largest))
	}
}

// reading are pairs of connections of HTTP/2 that take in what they have read in turn only.
func reading(t *testing.T, names ...string) *pairs {
	p := newPairs(t, 1<<30)
	p.table.mostFree = 0
	p.open(names...)
	for _, name := range names {
		p.conns[name].second = true
		p.conns[name].Own(name, false)
	}
	return p
}

// read sends a byte and has it read. The error is that of the connection's Read.
func (p *pairs) read(name string) error {
	if _, err := p.peers[name].Write([]byte("x")); err != nil {
		p.t.Error(err)
	}
	_, err := p.conns[name].Read(make([]byte, 8))
	return err
}

// TestStalledReading: a connection that takes in what it has read and never reads on keeps no other from that.
func TestStalledReading(t *testing.T) {
	p := reading(t, "stalled", "other")
	for _, name := range []string{"stalled", "other", "other"} {
		if err := p.read(name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	p.table.mostFree = 1
	if err := p.read("stalled"); err != nil {
		t.Fatal(err)
	}
	for p.table.free.Load() > 0 {
		time.Sleep(100 * time.Microsecond)
	}
	for _, c := range p.conns {
		c.Close()
		c.Close()
	}
	p.free()
}

// free checks that no connection has a turn.
func (p *pairs) free() {
	p.t.Helper()
	for range 2 { // each place twice
		if err := p.table.turns.Begin(turns.Later, Owner{}, p.t.Context().Done()); err != nil {
			p.t.Fatal(err)
		}
		p.table.turns.End(turns.Later)
	}
	if n := p.table.free.Load(); n != 0 {
		p.t.Errorf("%d are free of turns", n)
	}
}

// TestReadingInTurn: while many requests of an owner wait, its connections take in nothing, and those of others do. One
// that is closed waits no longer.
func TestReadingInTurn(t *testing.T) {
	p := reading(t, "flood", "closed", "other")
	p.conns["closed"].Own("flood", false)
	flood := p.conns["flood"].Owner()
	if !p.table.turns.Try() {
		t.Fatal("there is no place")
	}
	begun := make(chan error)
	for range turns.Few {
		go func() { begun <- p.table.turns.Begin(turns.Now, flood, t.Context().Done()) }()
	}
	awaitWaiting := func(r turns.Rank, n int) {
		for p.table.turns.Waiting(r, flood) != n {
			time.Sleep(100 * time.Microsecond)
		}
	}
	awaitWaiting(turns.Now, turns.Few)
	read := make(chan error)
	for i, name := range []string{"flood", "closed"} {
		go func() { read <- p.read(name) }()
		awaitWaiting(turns.Later, i+1)
	}
	if err := p.read("other"); err != nil {
		t.Error(err)
	}
	p.conns["closed"].Close()
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("of the closed one: %v", err)
	}
	p.table.turns.End(turns.Now)
	if err := errors.Join(<-begun, <-read); err != nil { // there are fewer now
		t.Error(err)
	}
	for range turns.Few - 1 {
		p.table.turns.End(turns.Now)
		<-begun
	}
	p.table.turns.End(turns.Now)
	for _, c := range p.conns {
		c.Close()
	}
	p.free()
}
