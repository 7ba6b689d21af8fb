package connections

import (
	"container/heap"
	"container/list"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/turns"
)

const (
	// Each is what a connection counts for: buffers, the state of TLS and a goroutine.
	Each = 32 << 10
	// Window is how many bytes of bodies a connection of HTTP/2 has room for, besides what its handlers read.
	Window = 64 << 10
	// Most is up to how many bytes of a request count. More are rejected, or are a body's, which counts elsewhere.
	Most = 512 << 10
	// Parsed is what a byte of a client's certificates takes when it is parsed.
	Parsed = 16
)

// Table is all connections of a server.
type Table struct {
	handshakes handshakes
	turns      *turns.Turns[Owner]
	// free is how many connections of HTTP/2 take in what they have read without a turn, and mostFree how many may,
	// about.
	free     atomic.Int64
	mostFree int64

	mu sync.Mutex // guards what follows, and the accounts of connections
	// of are the accounts of addresses, of users who are no masters, and of masters.
	of [classes]accounts
	// seen is how many accounts there have been.
	seen   int64
	closed int64
}

// accounts are what owners have.
type accounts struct {
	limit, bytes int64
	by           map[Owner]*account
	// largest has the accounts as a heap.
	largest largest
}

// account is what one owner has.
type account struct {
	bytes int64
	// born orders accounts by age, and at is the place in the heap.
	born int64
	at   int
	// long are connections with long parts of requests, short the others, the oldest first.
	short, long list.List
}

// New returns a table for so many bytes of users' connections, as many of masters', half as many of connections on
// which no request has been authenticated, and so many handshakes at a time. Of the turns, which requests have before
// they are served, those of rank Later are for connections of HTTP/2 that take in what they have read.
func New(limit int64, shakes int, t *turns.Turns[Owner]) *Table {
	table := &Table{handshakes: handshakes{free: shakes}, turns: t, mostFree: int64(runtime.GOMAXPROCS(0))}
	for i, share := range [classes]int64{addresses: limit / 2, users: limit, masters: limit} {
		table.of[i].limit, table.of[i].by = share, map[Owner]*account{}
	}
	return table
}

// Listen returns a listener whose connections count.
func (t *Table) Listen(l net.Listener) net.Listener { return &listener{l, t} }

// ListenTLS returns a listener whose connections speak TLS, and count.
func (t *Table) ListenTLS(l net.Listener, config *tls.Config, log *slog.Logger) net.Listener {
	return &secureListener{
		Listener: l, table: t, config: config, log: log, ready: make(chan accepted), done: make(chan struct{}),
	}
}

// Counts returns how many bytes count now, and how many connections have been closed as they were too many.
func (t *Table) Counts() (bytes, closed int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.of {
		bytes += t.of[i].bytes
	}
	return bytes, t.closed
}

// conn makes a connection, which doesn't count yet.
func (t *Table) conn(under net.Conn) *Conn {
	host, _, err := net.SplitHostPort(under.RemoteAddr().String())
	if err != nil {
		host = under.RemoteAddr().String()
	}
	from := network(host)
	return &Conn{Conn: under, table: t, gone: make(chan struct{}), network: from, owner: Owner{address: from}}
}

// network is the part of an address that one client has to itself: of IPv6 as a rule the first half.
func network(host string) string {
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() && !a.Is4In6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return host
}

// enter counts a connection from now on.
func (t *Table) enter(c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.fixed = Each
	if c.second {
		c.fixed += Window
	}
	if c.hello > shortHello {
		c.fixed += Parsed * int64(c.hello)
	}
	t.put(c, c.owner, c.fixed)
	t.shrink(c.owner.class())
}

// count counts a connection that is closed.
func (t *Table) count() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed++
}

// put counts a connection for an owner. mu is held.
func (t *Table) put(c *Conn, o Owner, bytes int64) {
	all := &t.of[o.class()]
	a := all.by[o]
	if a == nil {
		t.seen++
		a = &account{born: t.seen}
		all.by[o] = a
		heap.Push(&all.largest, a)
	}
	c.owner, c.bytes = o, bytes
	all.bytes += bytes
	a.bytes += bytes
	heap.Fix(&all.largest, a.at)
	if bytes > c.fixed {
		c.in, c.place = &a.long, a.long.PushBack(c)
	} else {
		c.in, c.place = &a.short, a.short.PushBack(c)
	}
}

// leave takes a connection out of its owner's account; false if it is in none any more. mu is held.
func (t *Table) leave(c *Conn) bool {
	if c.in == nil {
		return false
	}
	all := &t.of[c.owner.class()]
	a := all.by[c.owner]
	c.in.Remove(c.place)
	c.in, c.place = nil, nil
	all.bytes -= c.bytes
	if a.bytes -= c.bytes; a.bytes > 0 {
		heap.Fix(&all.largest, a.at)
	} else {
		heap.Remove(&all.largest, a.at)
		delete(all.by, c.owner)
	}
	return true
}

// change counts a connection anew, for another owner or with other bytes of a request, unless it is closed.
func (t *Table) change(c *Conn, o *Owner, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := c.owner
	if o == nil {
		o = &was
	}
	if !t.leave(c) {
		return
	}
	t.put(c, *o, c.fixed+bytes)
	t.shrink(o.class())
}

// remove forgets a connection.
func (t *Table) remove(c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave(c)
}

// shrink closes connections until the rest is within the limit. mu is held.
func (t *Table) shrink(class int) {
	for all := &t.of[class]; all.bytes > all.limit; {
		most := all.largest[0]
		first := most.long.Front()
		if first == nil {
			first = most.short.Front()
		}
		c := first.Value.(*Conn)
		t.leave(c)
		t.closed++
		_ = c.shut() // its reader and writer learn it
	}
}
