package connections

import (
	"net"
	"sync"
)

// outboxSize is how many bytes of an outbox wait, while as many may be being sent: several small responses. A longer
// write waits until all before it is sent, and is not copied.
const outboxSize = 8 << 10

// outbox gathers the small writes of a connection of HTTP/2, so that several of them are one system call, and wake the
// client once. net/http writes the headers of each response, and then its body, and each of the two is a TLS record.
//
// A write returns when the outbox has its bytes. A goroutine sends them, with all that is added until it runs; what is
// added while it sends follows together. It exists, and the outbox has buffers, only while there is something to send.
type outbox struct {
	to net.Conn

	mu sync.Mutex // guards what follows
	// changed says that bytes were sent, or that nothing is being sent any more.
	changed sync.Cond
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

func newOutbox(to net.Conn) *outbox {
	o := &outbox{to: to}
	o.changed.L = &o.mu
	return o
}

// write sends b after all before it. It waits while the outbox is full. It returns the error of an earlier write, too.
func (o *outbox) write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.failed == nil && o.sending && o.queued()+len(b) > outboxSize {
		o.changed.Wait()
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

// pass sends b without a copy. Nothing else is being sent. mu is held, except while b is sent.
func (o *outbox) pass(b []byte) (int, error) {
	o.sending = true
	o.mu.Unlock()
	n, err := o.to.Write(b)
	o.mu.Lock()
	o.failed = err
	if o.sending = o.waiting != nil; o.sending { // another write came meanwhile
		go o.send()
	}
	o.changed.Broadcast()
	return n, err
}

// send sends what waits until nothing does.
func (o *outbox) send() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.waiting != nil && o.failed == nil {
		b := o.waiting
		o.waiting = nil
		o.mu.Unlock()
		_, err := o.to.Write(b.data[:b.n])
		b.n = 0
		buffers.Put(b)
		o.mu.Lock()
		if o.failed = err; err != nil {
			_ = o.to.Close() // the reader gets an error; no write may follow that would return this one
		}
		o.changed.Broadcast()
	}
	o.waiting, o.sending = nil, false
	o.changed.Broadcast()
}

// flush waits until nothing is being sent: all is sent, or a write has failed.
func (o *outbox) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.sending {
		o.changed.Wait()
	}
}
