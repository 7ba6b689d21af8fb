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
	"time"

	"github.com/kubecascade/kubecascade/apiserver/turns"
)

const (
	// Each is what a connection counts for, in bytes: buffers, the TLS state and a goroutine.
	Each = 32 << 10
	// Window is how many bytes of bodies a connection of HTTP/2 buffers, besides what its handlers read.
	Window = 64 << 10
	// Most is up to how many bytes of a partial request count. A longer one is rejected, or the rest is a body, which
	// counts elsewhere.
	Most = 512 << 10
	// Parsed is how many bytes of memory a byte of a client's certificates takes when it is parsed.
	Parsed = 16
)

// Table counts all connections of a server.
type Table struct {
	handshakes handshakes
	turns      *turns.Turns[Owner]
	// free is how many connections of HTTP/2 process what they have read without a turn; mostFree is about how many
	// may.
	free     atomic.Int64
	mostFree int64
	// ending says that connections without requests end.
	ending atomic.Bool
	// abandoned is closed abandonTime after all connections are about to be closed.
	abandoned chan struct{}
	abandon   sync.Once

	mu sync.Mutex // guards what follows, and the accounts of connections
	// of are the accounts of addresses, of users outside system:masters, and of system:masters.
	of [classes]accounts
	// seen is how many accounts have been made.
	seen   int64
	closed int64
}

// EndUnused ends connections of HTTP/2 when they have no requests and net/http writes to them, as it does when the
// server shuts down, which it must do next.
func (t *Table) EndUnused() { t.ending.Store(true) }

// Abandon is for a server that closes all connections next, as http.Server.Close does: one after the other, so that
// none may wait for its client from abandonTime on.
func (t *Table) Abandon() {
	t.abandon.Do(func() { time.AfterFunc(abandonTime, func() { close(t.abandoned) }) })
}

// accounts are the accounts of one class of owners.
type accounts struct {
	limit, bytes int64
	by           map[Owner]*account
	// largest has the accounts as a heap.
	largest largest
}

// account is the connections of one owner.
type account struct {
	bytes int64
	// born orders accounts by age; at is the place in the heap.
	born int64
	at   int
	// long are connections with long partial requests, short the others; the oldest is first.
	short, long list.List
}

// New returns a table with a limit in bytes for users' connections, the same for those of system:masters, and half of
// it for connections on which no request has been authenticated. shakes is how many handshakes are computed at a time.
// t has the turns of requests; connections of HTTP/2 that process what they have read take turns of rank Later.
func New(limit int64, shakes int, t *turns.Turns[Owner]) *Table {
	table := &Table{
		handshakes: handshakes{free: shakes}, turns: t, mostFree: int64(runtime.GOMAXPROCS(0)),
		abandoned: make(chan struct{}),
	}
	for i, share := range [classes]int64{addresses: limit / 2, users: limit, masters: limit} {
		table.of[i].limit, table.of[i].by = share, map[Owner]*account{}
	}
	return table
}

// Listen returns a listener whose connections count.
func (t *Table) Listen(l net.Listener) net.Listener { return &listener{l, t} }

// ListenTLS returns a listener whose connections use TLS and count.
func (t *Table) ListenTLS(l net.Listener, config *tls.Config, log *slog.Logger) net.Listener {
	return &secureListener{
		Listener: l, table: t, config: config, log: log, ready: make(chan accepted), done: make(chan struct{}),
	}
}

// Counts returns how many bytes count now, and how many connections have been closed above the limit.
func (t *Table) Counts() (bytes, closed int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.of {
		bytes += t.of[i].bytes
	}
	return bytes, t.closed
}

// conn returns a connection that does not count yet.
func (t *Table) conn(under net.Conn) *Conn {
	host, _, err := net.SplitHostPort(under.RemoteAddr().String())
	if err != nil {
		host = under.RemoteAddr().String()
	}
	from := network(host)
	return &Conn{Conn: under, table: t, gone: make(chan struct{}), network: from, owner: Owner{address: from}}
}

// network is the part of an address that belongs to one client: of IPv6 usually the first 64 bits.
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

// count counts a connection that was closed above the limit.
func (t *Table) count() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed++
}

// put adds a connection to an owner's account. mu is held.
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

// leave removes a connection from its owner's account; false if it has none any more. mu is held.
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

// change sets the owner of a connection or the bytes of its partial request, unless it is closed.
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

// remove removes a connection.
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
		_ = c.shut() // its reader and writer get an error
	}
}
