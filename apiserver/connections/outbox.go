package connections

import (
	"net"
	"os"
	"sync"
	"time"
)

// SendTime is how long the client of a connection of HTTP/2 may take none of what is being sent. It is the value for
// net/http's WriteByteTimeout, too, which limits the writes that wait.
const SendTime = 30 * time.Second

const (
	// outboxSize is how many bytes of an outbox wait, while as many may be being sent: several small responses. A
	// longer write waits until all before it is sent, and is not copied.
	outboxSize = 8 << 10
	// endTime is how long what waits may delay the end of the connection, as long as TLS' last alert, and abandonTime
	// how long after Table.Abandon.
	endTime, abandonTime = 5 * time.Second, 10 * time.Millisecond
)

// outbox gathers the small writes of a connection of HTTP/2, so that several of them are one system call, and wake the
// client once. net/http writes the headers of each response, and then its body, and each of the two is a TLS record.
//
// A write returns when the outbox has its bytes. A goroutine sends them, with all that is added until it runs; what is
// added while it sends follows together. It exists, and the outbox has buffers, only while there is something to send.
//
// Only the outbox sets deadlines of the connection below. Those of its user would be those of other bytes: net/http
// sets one before each write and removes it afterwards, while what was written before is still being sent.
type outbox struct {
	to net.Conn

	mu sync.Mutex // guards what follows
	// abandoned is closed abandonTime after Table.Abandon; nil once that matters no more.
	abandoned <-chan struct{}
	// until is the user's deadline: that of a write that waits. Zero is none.
	until time.Time
	// end is when sending ends at the latest; zero before the connection ends.
	end time.Time
	// changed is closed after the next change of waiting, sending or failed; nil if no goroutine waits for one.
	changed chan struct{}
	// waiting are the bytes to send next; nil if there are none.
	waiting *buffer
	// sending says that a goroutine or a long write is sending.
	sending bool
	// failed is the error of a write; nothing is sent after it.
	failed error
}

// buffer has the bytes of small writes.
type buffer struct {
	n    int
	data [outboxSize]byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func newOutbox(to net.Conn, abandoned <-chan struct{}) *outbox {
	return &outbox{to: to, abandoned: abandoned}
}

// deadline sets the deadline of writes that wait.
func (o *outbox) deadline(t time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.until = t
}

// write sends b after all before it. It waits while the outbox is full, up to the deadline. It returns the error of an
// earlier write, too.
func (o *outbox) write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.await(o.until, func() bool { return o.failed != nil || !o.sending || o.queued()+len(b) <= outboxSize }) {
		o.fail(os.ErrDeadlineExceeded) // what follows b must not be sent without it
	}
	if o.failed != nil {
		return 0, o.failed
	}
	if !o.sending && len(b) > outboxSize/4 {
		return o.pass(b)
	}
	if o.waiting == nil {
		o.waiting = buffers.Get().(*buffer)
	}
	o.waiting.n += copy(o.waiting.data[o.waiting.n:], b)
	if !o.sending {
		o.sending = true
		go o.send()
	}
	return len(b), nil
}

// queued is how many bytes wait. mu is held.
func (o *outbox) queued() int {
	if o.waiting == nil {
		return 0
	}
	return o.waiting.n
}

// await waits for a change after which done is true; false if that is not so at the time, or abandonTime after
// Table.Abandon. Zero is no time. mu is held, except while it waits.
func (o *outbox) await(until time.Time, done func() bool) bool {
	if done() {
		return true
	}
	var late <-chan time.Time
	if !until.IsZero() {
		late = time.After(time.Until(until))
	}
	for !done() {
		if o.changed == nil {
			o.changed = make(chan struct{})
		}
		changed, abandoned := o.changed, o.abandoned
		o.mu.Unlock()
		select {
		case <-changed:
			o.mu.Lock()
		case <-abandoned:
			o.mu.Lock()
			return done()
		case <-late:
			o.mu.Lock()
			return done()
		}
	}
	return true
}

// change wakes those that wait. mu is held.
func (o *outbox) change() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// put passes bytes to the connection below. mu is held, except while it does.
func (o *outbox) put(b []byte) (n int, err error) {
	t := time.Now().Add(SendTime)
	if !o.end.IsZero() && o.end.Before(t) {
		t = o.end
	}
	_ = o.to.SetWriteDeadline(t) // if that fails, the write does
	o.mu.Unlock()
	n, err = o.to.Write(b)
	o.mu.Lock()
	if err != nil {
		o.fail(err)
		_ = o.to.Close() // the reader gets an error; no write may follow that would return this one
	}
	return n, err
}

// fail ends sending with an error, unless another one has. mu is held.
func (o *outbox) fail(err error) {
	if o.failed == nil {
		o.failed = err
	}
}

// pass sends b without a copy. Nothing else is being sent. mu is held, except while b is sent.
func (o *outbox) pass(b []byte) (int, error) {
	o.sending = true
	n, err := o.put(b)
	if o.sending = o.waiting != nil; o.sending { // another write came meanwhile
		go o.send()
	}
	o.change()
	return n, err
}

// send sends what waits until nothing does.
func (o *outbox) send() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.waiting != nil && o.failed == nil {
		b := o.waiting
		o.waiting = nil
		_, _ = o.put(b.data[:b.n]) // the error is that of later writes
		b.n = 0
		buffers.Put(b)
		o.change()
	}
	o.waiting, o.sending = nil, false
	o.change()
}

// finish waits until all is sent, for at most endTime. Nothing can be written after it.
func (o *outbox) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	idle := func() bool { return !o.sending }
	if !o.await(time.Now().Add(endTime), idle) {
		o.end = time.Now()
		_ = o.to.SetWriteDeadline(o.end) // what is being sent fails now
		o.abandoned = nil                // it matters no more
		o.await(time.Time{}, idle)
	}
	o.fail(os.ErrDeadlineExceeded)
}
