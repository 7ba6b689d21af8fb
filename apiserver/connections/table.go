package connections

import (
	"container/list"
	"net"
	"sync"
)

const (
	// Each is what a connection counts for: buffers, the state of TLS and a goroutine.
	Each = 32 << 10
	// Most is up to how many bytes of a request count. More are rejected, or are those of a body, which counts elsewhere.
	Most = 512 << 10
)

// Table is all connections of a server.
type Table struct {
	// handshakes has room for those that are computed.
	handshakes chan struct{}
	limit      int64

	mu sync.Mutex // guards what follows, and the accounts of connections
	// of are the accounts of all who are no masters, and of masters.
	of     [2]accounts
	closed int64
}

// accounts are what owners have.
type accounts struct {
	bytes int64
	by    map[string]*account
}

// account is what one owner has.
type account struct {
	bytes int64
	// short are connections that count for Each, and long others, the oldest first.
	short, long list.List
}

// New returns a table for so many bytes, and so many handshakes at a time.
func New(limit int64, handshakes int) *Table {
	t := &Table{limit: limit, handshakes: make(chan struct{}, handshakes)}
	for i := range t.of {
		t.of[i].by = map[string]*account{}
	}
	return t
}

// Listen returns a listener whose connections count. secure says that TLS is spoken over them.
func (t *Table) Listen(l net.Listener, secure bool) net.Listener { return &listener{l, t, secure} }

// Counts returns how many bytes count now, and how many connections have been closed as they were too many.
func (t *Table) Counts() (bytes, closed int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[0].bytes + t.of[1].bytes, t.closed
}

type listener struct {
	net.Listener
	table  *Table
	secure bool
}

// Accept counts the connection.
func (l *listener) Accept() (net.Conn, error) {
	under, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: under, table: l.table}
	c.shaking.Store(l.secure)
	l.table.add(c)
	return c, nil
}

// add counts a new connection.
func (t *Table) add(c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enter(c, owner{}, Each)
	t.shrink(c.owner.class())
}

// enter counts a connection for an owner. mu is held.
func (t *Table) enter(c *Conn, o owner, bytes int64) {
	all := &t.of[o.class()]
	a := all.by[o.name]
	if a == nil {
		a = &account{}
		all.by[o.name] = a
	}
	c.owner, c.bytes = o, bytes
	all.bytes += bytes
	a.bytes += bytes
	if bytes > Each {
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
	a := all.by[c.owner.name]
	c.in.Remove(c.place)
	c.in, c.place = nil, nil
	all.bytes -= c.bytes
	if a.bytes -= c.bytes; a.bytes == 0 {
		delete(all.by, c.owner.name)
	}
	return true
}

// change counts a connection anew, for another owner or other bytes, unless it is closed.
func (t *Table) change(c *Conn, o *owner, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := c.owner
	if o == nil {
		o = &was
	}
	if !t.leave(c) {
		return
	}
	t.enter(c, *o, bytes)
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
	for all := &t.of[class]; all.bytes > t.limit; {
		var most *account
		for _, a := range all.by {
			if most == nil || a.bytes > most.bytes {
				most = a
			}
		}
		first := most.long.Front()
		if first == nil {
			first = most.short.Front()
		}
		c := first.Value.(*Conn)
		t.leave(c)
		t.closed++
		_ = c.Conn.Close() // its reader and writer learn it
	}
}
