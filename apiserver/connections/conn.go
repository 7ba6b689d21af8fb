package connections

import (
	"container/list"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// Owner is a user or, until a request on the connection has been authenticated, an address.
type Owner struct {
	name, address string
	master        bool
}

// The classes of owners. The connections of each class have a limit of their own.
const (
	addresses = iota
	users
	masters
	classes
)

// class is the index of the owner's accounts.
func (o Owner) class() int {
	switch {
	case o.master:
		return masters
	case o.address != "":
		return addresses
	}
	return users
}

// Conn is a connection that counts. Methods besides those of net.Conn may be called on nil, which does not count.
type Conn struct {
	net.Conn
	table *Table
	// since is how many bytes have arrived since the last request began or ended.
	since atomic.Int64
	// known is the owner of the connection; nil as long as it is not a user.
	known atomic.Pointer[Owner]
	// counted is how much of since the table has counted, in steps.
	counted atomic.Int64
	// answers is the number of responses so far.
	answers atomic.Int64

	// shaking says that the handshake is in progress, turn that it is being computed. hello is how many of its bytes
	// have arrived. The goroutine of the handshake owns them.
	shaking, turn bool
	hello         int
	// spoke is called when the first byte of the handshake arrives.
	spoke func()
	// queue is the queue in which the connection waits during its handshake: queued is its place among all, queuedBy
	// its place among those of its address. The listener's lock guards them. network is the client's network.
	queue            *queue
	queued, queuedBy *list.Element
	network          string
	// second says that the connection speaks HTTP/2, and outbox has what is being sent then; else it is nil. state says
	// whether what it has read is being processed. lapse ends its turn.
	second bool
	outbox *outbox
	state  atomic.Int32
	lapse  *time.Timer
	// secure is the TLS above; it is set with second. unused says that no request is active, ended that closeWrite was
	// called.
	secure        *tls.Conn
	unused, ended atomic.Bool

	// gone is closed when the connection is closed.
	gone  chan struct{}
	close sync.Once

	// The table's lock guards owner, fixed (what the connection always counts for), bytes (all that it counts for) and
	// its place in its owner's account. in is nil before the connection counts, and after it is closed.
	owner        Owner
	fixed, bytes int64
	in           *list.List
	place        *list.Element
}

const (
	// step is the number of bytes between two updates of the table.
	step = 16 << 10
	// maxHello limits what a client may send until its handshake ends: mostly certificates. Go allocates 1.7 MB for 180
	// KB of them.
	maxHello = 32 << 10
	// turnTime is the longest turn to process what was read; firstTime is that of a connection on which no request has
	// been authenticated. A hundred requests begin within some milliseconds.
	turnTime, firstTime = 5 * time.Millisecond, time.Millisecond
	// shortHello is up to which size Each covers a handshake.
	shortHello = 4 << 10
)

// errHello ends a handshake that is too long.
var errHello = errors.New("the client's part of the TLS handshake is too long")

// Of returns the Conn that c is, or that is below its TLS; nil if there is none.
func Of(c net.Conn) *Conn {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	own, _ := c.(*Conn)
	return own
}

// Rest records that what has arrived counts elsewhere, or no longer: a request begins or ends, or a watch continues.
func (c *Conn) Rest() {
	if c == nil {
		return
	}
	c.since.Store(0)
	if c.counted.Swap(0) > 0 {
		c.table.change(c, nil, 0)
	}
}

// Own sets the owner of the connection to the user of its last request.
func (c *Conn) Own(name string, master bool) {
	if c == nil {
		return
	}
	o := Owner{name: name, master: master}
	if known := c.known.Load(); known != nil && *known == o {
		return
	}
	c.known.Store(&o)
	c.table.change(c, &o, c.counted.Load())
}

// Owner is the present owner of the connection. The owner of nil has all connections that don't count.
func (c *Conn) Owner() Owner {
	if c == nil {
		return Owner{}
	}
	if known := c.known.Load(); known != nil {
		return *known
	}
	return Owner{address: c.network}
}

// Samples counts a response, and returns true for one in every so many.
func (c *Conn) Samples(every int64) bool { return c != nil && c.answers.Add(1)%every == 0 }

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	if c.shaking {
		return c.shake(b)
	}
	c.taken()
	n, err := c.Conn.Read(b)
	if n > 0 {
		if c.second && !c.takeIn() {
			return n, net.ErrClosed
		}
		since, counted := min(c.since.Add(int64(n)), Most), c.counted.Load()
		if since-counted >= step || since == Most && counted < Most {
			c.counted.Store(since)
			c.table.change(c, nil, since)
		}
	}
	return n, err
}

// SetUnused says whether a request is active on the connection.
func (c *Conn) SetUnused(unused bool) {
	if c != nil {
		c.unused.Store(unused)
	}
}

// Write implements net.Conn. After Table.EndUnused it ends a connection of HTTP/2 without requests: net/http writes
// at least once after the end of the last response, either what is left of it or the announcement that the connection
// ends. Over HTTP/2 it returns before all is sent (see outbox).
func (c *Conn) Write(b []byte) (int, error) {
	if c.outbox == nil {
		return c.Conn.Write(b)
	}
	ends := c.unused.Load() && c.table.ending.Load()
	n, err := c.outbox.write(b)
	if ends && c.ended.CompareAndSwap(false, true) {
		go c.closeWrite() // waits for the TLS record of which this is a part
	}
	return n, err
}

// SetWriteDeadline implements net.Conn. Over HTTP/2 it is the deadline of writes that wait for others. One in the past
// is that of tls.Conn after its last alert (tls.Conn.closeNotify): it waits until all is sent.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	switch {
	case c.outbox == nil:
		return c.Conn.SetWriteDeadline(t)
	case t.IsZero() || t.After(time.Now()):
		c.outbox.deadline(t)
	default:
		c.outbox.finish()
	}
	return nil
}

// closeWrite tells the client that nothing follows, so that it closes the connection. net/http does so after a second
// (http2: goAwayTimeout): to close the connection here could lose what the client has not read.
func (c *Conn) closeWrite() {
	_ = c.secure.CloseWrite() // net/http closes the connection if this fails
	if under, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = under.CloseWrite() // as above
	}
}

// shake is Read during a handshake. What is computed between two reads needs a turn.
func (c *Conn) shake(b []byte) (int, error) {
	c.yield()
	n, err := c.Conn.Read(b)
	if c.hello == 0 && n > 0 {
		c.spoke()
	}
	if c.hello += n; c.hello > maxHello {
		return n, errHello
	}
	if n > 0 {
		if !c.table.handshakes.take(c.gone) {
			return n, net.ErrClosed
		}
		if c.turn = true; !alive(c.Conn) { // don't compute for a client that is gone
			c.yield()
			return n, net.ErrClosed
		}
	}
	return n, err
}

// yield ends the turn.
func (c *Conn) yield() {
	if c.turn {
		c.turn = false
		c.table.handshakes.give()
	}
}

// The states of a connection of HTTP/2 that has read something.
const (
	// idle: it is reading, or waits for a turn to process what it has read.
	idle = iota
	// free: it processes without a turn.
	free
	// inTurn: it processes in its turn.
	inTurn
)

// takeIn waits for a turn to process what the connection has read, if many wait. 16 KiB may hold the headers of a
// hundred requests, each of which starts a goroutine at once: many connections would keep the processors from others
// for tenths of a second. It returns false if the connection is closed.
func (c *Conn) takeIn() bool {
	t := c.table
	state := int32(free)
	if t.turns.Waits() == 0 && t.free.Load() < t.mostFree {
		t.free.Add(1)
	} else {
		if t.turns.Begin(turns.Later, c.Owner(), c.gone) != nil {
			return false
		}
		state = inTurn
	}
	c.state.Store(state)
	c.lapseAfter(c.patience())
	select {
	case <-c.gone: // shut may have been called before the state was set
		c.taken()
		return false
	default:
		return true
	}
}

// patience is the longest turn of the connection.
func (c *Conn) patience() time.Duration {
	if c.known.Load() == nil {
		return firstTime
	}
	return turnTime
}

// lapseAfter ends the turn after d: a connection with invalid frames, or one on which nothing can be sent, reads no
// more and is closed some time later. A timer that fires late ends the next turn early, which does no harm.
func (c *Conn) lapseAfter(d time.Duration) {
	if c.lapse == nil {
		c.lapse = time.AfterFunc(d, c.taken)
	} else {
		c.lapse.Reset(d)
	}
}

// taken ends the turn: what was read has been processed, or the turn has lapsed.
func (c *Conn) taken() {
	switch c.state.Load() {
	case idle:
	case free:
		if c.state.CompareAndSwap(free, idle) {
			c.table.free.Add(-1)
		}
	case inTurn:
		if c.state.CompareAndSwap(inTurn, idle) {
			c.table.turns.End(turns.Later)
		}
	}
}

// Close implements net.Conn. Nothing is being sent when it returns.
func (c *Conn) Close() error {
	c.table.remove(c)
	err := c.shut()
	if c.outbox != nil {
		c.outbox.finish()
	}
	return err
}

// shut closes a connection that does not count any more.
func (c *Conn) shut() error {
	c.close.Do(func() { close(c.gone) })
	c.taken()
	return c.Conn.Close()
}

// SyscallConn implements syscall.Conn.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	if under, ok := c.Conn.(syscall.Conn); ok {
		return under.SyscallConn()
	}
	return nil, syscall.EINVAL
}
