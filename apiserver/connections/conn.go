package connections

import (
	"container/list"
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// Owner is whose a connection is: a user's or, until a request on it has been authenticated, an address's.
type Owner struct {
	name, address string
	master        bool
}

// The classes of owners, whose connections count by themselves.
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

// Conn is a connection that counts. The methods that are not net.Conn's may be called on nil, which doesn't count.
type Conn struct {
	net.Conn
	table *Table
	// since is how many bytes have come since the last request began or ended.
	since atomic.Int64
	// known is whose the connection is; nil as long as it is no user's.
	known atomic.Pointer[Owner]
	// counted is what of since the table knows, in steps.
	counted atomic.Int64
	// answers is how many there have been.
	answers atomic.Int64

	// shaking says that the handshake goes on, turn that it is being computed, and hello is how many bytes have come of
	// it. The goroutine that shakes hands owns them, later the reader owns came: how many bytes have come since others
	// had their turn.
	shaking, turn bool
	hello, came   int
	// spoke is called when the first byte of the handshake comes.
	spoke func()
	// queue is where the connection waits in its handshake, in place queued of all and queuedBy of its address's; its
	// listener's lock guards them. network is where its client is.
	queue            *queue
	queued, queuedBy *list.Element
	network          string
	// second says that the connection speaks HTTP/2. state tells whether what it has read is being taken in, and lapse
	// ends its turn.
	second bool
	state  atomic.Int32
	lapse  *time.Timer

	// gone is closed when the connection is.
	gone  chan struct{}
	close sync.Once

	// owner, fixed (what it counts for whatever comes), bytes (all that it counts for) and where the connection is in
	// its owner's account are guarded by the table's lock. in is nil before it is counted, and after the end.
	owner        Owner
	fixed, bytes int64
	in           *list.List
	place        *list.Element
}

const (
	// share is after how many bytes that come other connections have their turn. In it a connection may have a hundred
	// small requests, or frames of HTTP/2 that reset streams; the goroutines that pass them on to each other would keep
	// a processor for 10 ms.
	share = 4 << 10
	// step is how many more bytes the table is told of at a time.
	step = 16 << 10
	// maxHello bounds what a client may send until its handshake is over: certificates, most of all. Of 180 KB of them
	// Go makes 1.7 MB.
	maxHello = 32 << 10
	// turnTime is how long a turn to take in what was read is at most, and firstTime how long that of a connection on
	// which no request has been authenticated. A hundred requests begin in some milliseconds.
	turnTime, firstTime = 5 * time.Millisecond, time.Millisecond
	// shortHello is a handshake that Each is enough for.
	shortHello = 4 << 10
)

// errHello ends a handshake that is too long.
var errHello = errors.New("the client's part of the TLS handshake is too long")

// Of returns the connection that c is, or that is below its TLS; nil if it is another.
func Of(c net.Conn) *Conn {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	own, _ := c.(*Conn)
	return own
}

// Rest says that what has come until now counts elsewhere, or no more: a request begins or ends, or a watch goes on.
func (c *Conn) Rest() {
	if c == nil {
		return
	}
	c.since.Store(0)
	if c.counted.Swap(0) > 0 {
		c.table.change(c, nil, 0)
	}
}

// Own says whose the connection is, as its last request was.
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

// Owner is whose the connection is now. That of nil owns all that do not count.
func (c *Conn) Owner() Owner {
	if c == nil {
		return Owner{}
	}
	if known := c.known.Load(); known != nil {
		return *known
	}
	return Owner{address: c.network}
}

// Samples counts an answer, and reports whether it is one of so many.
func (c *Conn) Samples(every int64) bool { return c != nil && c.answers.Add(1)%every == 0 }

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	if c.shaking {
		return c.shake(b)
	}
	c.taken()
	n, err := c.Conn.Read(b)
	if n > 0 {
		if c.came += n; c.came >= share {
			c.came = 0
			runtime.Gosched()
		}
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

// shake is Read in a handshake, which is computed in turn between two reads.
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
		if c.turn = true; !alive(c.Conn) { // what would be computed would be for no one
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
	// idle: it reads on, or waits for its turn to take in what it has read.
	idle = iota
	// free: it takes it in without a turn.
	free
	// inTurn: it takes it in in its turn.
	inTurn
)

// takeIn waits for the connection's turn to take in what it has read, if there is much to do. In 16 KiB there may be
// the heads of a hundred requests, each of which gets a goroutine at once: of many connections they would keep the
// processors from others for tenths of a second. False: the connection is closed.
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
	case <-c.gone: // shut may have come before the state was set
		c.taken()
		return false
	default:
		return true
	}
}

// patience is how long a turn of the connection is at most.
func (c *Conn) patience() time.Duration {
	if c.known.Load() == nil {
		return firstTime
	}
	return turnTime
}

// lapseAfter has the turn lapse: a connection whose frames are wrong, or on which nothing can be sent, reads no more,
// and is closed some time later. A timer that fires late ends the next turn early, which does no harm.
func (c *Conn) lapseAfter(d time.Duration) {
	if c.lapse == nil {
		c.lapse = time.AfterFunc(d, c.taken)
	} else {
		c.lapse.Reset(d)
	}
}

// taken says that what was read is taken in, or that others wait for that no longer.
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

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.table.remove(c)
	return c.shut()
}

// shut is Close of a connection that isn't counted any more.
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
