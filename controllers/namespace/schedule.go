package namespace

import (
	"container/heap"
	"time"
)

// Delays between passes over one namespace.
const (
	// After errors (E-07).
	minBackoff = 5 * time.Millisecond
	maxBackoff = 60 * time.Second
	// After a change in the namespace. A pass itself changes much, and others may go on changing
	// what can't be deleted, so the distance grows while nothing gets less.
	minDistance = 10 * time.Millisecond
	maxDistance = time.Second
)

// schedule says which namespace is to be looked at when. It is owned by one goroutine and told
// the time.
type schedule struct {
	entries map[string]*entry
	// waiting are the entries without a pass under way, the next one first.
	waiting queue
}

// entry is a namespace that is being deleted.
type entry struct {
	name string
	// due is when its next pass may begin; index its place in waiting, -1 while a pass is under way.
	due   time.Time
	index int
	// again says that something changed during the pass, gone that the namespace went.
	again, gone bool
	// failures and idle count the passes in a row that failed, and that left as much as before.
	failures, idle int
	left           int
	ended          time.Time
}

func newSchedule() *schedule { return &schedule{entries: map[string]*entry{}} }

// observe takes an event in.
func (s *schedule) observe(ev Event, now time.Time) {
	e := s.entries[ev.Namespace]
	switch {
	case ev.Type == Listed:
	case ev.Type == Exists && ev.Deleting && e == nil:
		e = &entry{name: ev.Namespace, due: now, left: -1}
		s.entries[ev.Namespace] = e
		heap.Push(&s.waiting, e)
	case e == nil:
	case ev.Type == Exists && ev.Deleting:
		e.gone = false
		s.wake(e, now)
	case ev.Type == Content:
		s.wake(e, now)
	case e.index >= 0: // Gone, or there is a new one that lives
		heap.Remove(&s.waiting, e.index)
		delete(s.entries, e.name)
	default:
		e.gone = true
	}
}

// wake brings the next pass forward.
func (s *schedule) wake(e *entry, now time.Time) {
	if e.index < 0 {
		e.again = true
		return
	}
	if due := later(now, e.ended.Add(e.distance())); due.Before(e.due) {
		e.due = due
		heap.Fix(&s.waiting, e.index)
	}
}

// next returns the namespace whose pass may begin, or else how long to wait; ok is false if no
// pass is waiting at all.
func (s *schedule) next(now time.Time) (name string, wait time.Duration, ok bool) {
	if len(s.waiting) == 0 {
		return "", 0, false
	}
	e := s.waiting[0]
	if e.due.After(now) {
		return "", e.due.Sub(now), true
	}
	return e.name, 0, true
}

// begin says that a pass over the namespace that next returned is under way.
func (s *schedule) begin(name string) {
	e := s.entries[name]
	heap.Remove(&s.waiting, e.index)
	e.index, e.again = -1, false
}

// end says how the pass ended.
func (s *schedule) end(name string, o outcome, now time.Time) {
	e := s.entries[name]
	if e.gone || o.done && !e.again {
		delete(s.entries, name)
		return
	}
	e.ended = now
	e.idle++
	if o.left != e.left {
		e.idle = 0
	}
	e.left = o.left
	switch {
	case o.err != nil:
		e.failures++
		e.due = now.Add(double(minBackoff, e.failures-1, maxBackoff))
	case o.done: // and again
		e.failures, e.due = 0, now.Add(e.distance())
	default:
		e.failures, e.due = 0, now.Add(o.after)
	}
	heap.Push(&s.waiting, e)
	if e.again {
		s.wake(e, now)
	}
}

// distance is how long after the end of a pass a change may cause the next one.
func (e *entry) distance() time.Duration { return double(minDistance, e.idle, maxDistance) }

// double returns d doubled n times, at most limit.
func double(d time.Duration, n int, limit time.Duration) time.Duration {
	for range n {
		if d >= limit {
			break
		}
		d *= 2
	}
	return min(d, limit)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// queue is a heap of entries by time, then name.
type queue []*entry

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if !q[i].due.Equal(q[j].due) {
		return q[i].due.Before(q[j].due)
	}
	return q[i].name < q[j].name
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for package heap.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.index = len(*q)
	*q = append(*q, e)
}

// Pop is for package heap.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
