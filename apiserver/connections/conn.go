package connections

import (
	"container/list"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
)

// owner is whose a connection is: of nobody until a request on it has been authenticated.
type owner struct {
	name   string
	master bool
}

// class is the index of the owner's accounts.
func (o owner) class() int {
	if o.master {
		return 1
	}
	return 0
}

// Conn is a connection that counts. The methods that are not net.Conn's may be called on nil, which doesn't count.
type Conn struct {
	net.Conn
	table *Table
	// since is how many bytes have come since the last request began.
	since atomic.Int64
	// known is whose the connection is; nil as long as it is nobody's.
	known atomic.Pointer[owner]
	// counted is what of since the table knows, in steps.
	counted atomic.Int64

	// taken is how many bytes have come since others had their turn. The reader owns it.
	taken int
	// shaking says that the handshake goes on, and turn that this side of it is being computed.
	shaking, turn atomic.Bool

	// owner, bytes and where the connection is in its owner's account are guarded by the table's lock. in is nil after
	// the end.
	owner owner
	bytes int64
	in    *list.List
	place *list.Element
}

// turn is after how many bytes that come other connections have their turn. In it a connection may have a hundred small
// requests, or frames of HTTP/2 that reset streams; the goroutines that pass them on to each other would keep a processor
// for 10 ms.
const turn = 4 << 10

// step is how many more bytes the table is told of at a time.
const step = 16 << 10

// Of returns the connection that c is, or that is below its TLS; nil if it is another.
func Of(c net.Conn) *Conn {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	own, _ := c.(*Conn)
	return own
}

// Begin says that a request begins: what has come until now is accounted for elsewhere.
func (c *Conn) Begin() {
	if c == nil {
		return
	}
	c.since.Store(0)
	if c.counted.Swap(0) > 0 {
		c.table.change(c, nil, Each)
	}
}

// Own says whose the connection is, as its last request was.
func (c *Conn) Own(name string, master bool) {
	if c == nil {
		return
	}
	o := owner{name, master}
	if known := c.known.Load(); known != nil && *known == o {
		return
	}
	c.known.Store(&o)
	c.table.change(c, &o, Each+c.counted.Load())
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	c.yield()
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.compute()
		if c.taken += n; c.taken >= turn {
			c.taken = 0
			runtime.Gosched()
		}
		if since := min(c.since.Add(int64(n)), Most); since-c.counted.Load() >= step {
			c.counted.Store(since)
			c.table.change(c, nil, Each+since)
		}
	}
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	c.shaken()
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.shaken()
	c.table.remove(c)
	return c.Conn.Close()
}

// compute waits for a turn, as this side of the handshake goes on with what has come.
func (c *Conn) compute() {
	if c.shaking.Load() {
		c.table.handshakes <- struct{}{}
		c.turn.Store(true)
	}
}

// yield ends the turn, as this side waits for the client.
func (c *Conn) yield() {
	if c.turn.CompareAndSwap(true, false) {
		<-c.table.handshakes
	}
}

// shaken ends the turn for good: this side has answered, and what is left takes little.
func (c *Conn) shaken() {
	c.shaking.Store(false)
	c.yield()
}

// SyscallConn implements syscall.Conn.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	if under, ok := c.Conn.(syscall.Conn); ok {
		return under.SyscallConn()
	}
	return nil, syscall.EINVAL
}
