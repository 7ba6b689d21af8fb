package connections

import (
	"container/heap"
	"container/list"
)

// queue holds connections with a handshake in progress. Its owner's lock guards it.
type queue struct {
	// all has the oldest first.
	all     list.List
	seen    int64
	by      map[string]*account
	largest largest
}

func (q *queue) len() int { return q.all.Len() }

// next is the connection to close when the queue is full: the oldest of an address that has an eighth of all, else the
// oldest. A client with many addresses has no more connections per address than an honest client with some connections.
func (q *queue) next() *Conn {
	oldest := q.all.Front()
	if oldest == nil {
		return nil
	}
	if most := q.largest[0]; most.bytes*8 >= int64(q.all.Len()) {
		oldest = most.short.Front()
	}
	return oldest.Value.(*Conn)
}

func (q *queue) add(c *Conn) {
	a := q.by[c.network]
	if a == nil {
		if q.by == nil {
			q.by = map[string]*account{}
		}
		q.seen++
		a = &account{born: q.seen}
		q.by[c.network] = a
		heap.Push(&q.largest, a)
	}
	a.bytes++
	heap.Fix(&q.largest, a.at)
	c.queue, c.queued, c.queuedBy = q, q.all.PushBack(c), a.short.PushBack(c)
}

// remove reports whether the connection was in the queue.
func (q *queue) remove(c *Conn) bool {
	if c.queue != q {
		return false
	}
	a := q.by[c.network]
	q.all.Remove(c.queued)
	a.short.Remove(c.queuedBy)
	c.queue, c.queued, c.queuedBy = nil, nil, nil
	if a.bytes--; a.bytes > 0 {
		heap.Fix(&q.largest, a.at)
		return true
	}
	heap.Remove(&q.largest, a.at)
	delete(q.by, c.network)
	return true
}
