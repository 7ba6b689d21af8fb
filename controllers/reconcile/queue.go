package reconcile

import (
	"cmp"
	"container/heap"
	"time"
)

// Queue has keys with the times for which they wait, each key once. NewQueue makes one.
type Queue[K comparable] struct {
	order  order[K]
	places map[K]*place[K]
}

// NewQueue returns an empty queue. compare orders keys of the same time.
func NewQueue[K comparable](compare func(a, b K) int) *Queue[K] {
	return &Queue[K]{order: order[K]{compare: compare}, places: map[K]*place[K]{}}
}

// Len returns the number of keys that wait.
func (q *Queue[K]) Len() int { return len(q.places) }

// Put makes a key wait until the time, in place of an earlier time.
func (q *Queue[K]) Put(key K, at time.Time) {
	if p := q.places[key]; p != nil {
		p.at = at
		heap.Fix(&q.order, p.index)
		return
	}
	p := &place[K]{key: key, at: at}
	q.places[key] = p
	heap.Push(&q.order, p)
}

// Remove removes a key, if it waits.
func (q *Queue[K]) Remove(key K) {
	if p := q.places[key]; p != nil {
		heap.Remove(&q.order, p.index)
		delete(q.places, key)
	}
}

// At returns the time for which the key waits; ok is false if it doesn't wait.
func (q *Queue[K]) At(key K) (at time.Time, ok bool) {
	p := q.places[key]
	if p == nil {
		return time.Time{}, false
	}
	return p.at, true
}

// First returns the key whose time comes first; ok is false if none waits.
func (q *Queue[K]) First() (key K, at time.Time, ok bool) {
	if len(q.order.heap) == 0 {
		return key, at, false
	}
	p := q.order.heap[0]
	return p.key, p.at, true
}

// Due returns the first key if its time has come. It stays in the queue.
func (q *Queue[K]) Due(now time.Time) (key K, ok bool) {
	first, at, ok := q.First()
	if !ok || at.After(now) {
		return key, false
	}
	return first, true
}

// Wait returns the time until the first key is due, 0 if it is due; ok is false if no key waits.
func (q *Queue[K]) Wait(now time.Time) (wait time.Duration, ok bool) {
	_, at, ok := q.First()
	if !ok {
		return 0, false
	}
	return max(0, at.Sub(now)), true
}

// Earliest returns at most most keys, in the order of their times.
func (q *Queue[K]) Earliest(most int) (keys []K) {
	if len(q.order.heap) == 0 {
		return nil
	}
	// The next key is a root, or a child of a key that was returned.
	next := order[K]{compare: q.order.compare, heap: []*place[K]{{key: q.order.heap[0].key, at: q.order.heap[0].at}}}
	for len(keys) < most && len(next.heap) > 0 {
		first := heap.Pop(&next).(*place[K])
		keys = append(keys, first.key)
		for i := 2*q.places[first.key].index + 1; i <= 2*q.places[first.key].index+2 && i < len(q.order.heap); i++ {
			heap.Push(&next, &place[K]{key: q.order.heap[i].key, at: q.order.heap[i].at})
		}
	}
	return keys
}

// place is a key in the queue; index is its index in the heap.
type place[K comparable] struct {
	key   K
	at    time.Time
	index int
}

// order is a heap of places by time, then key.
type order[K comparable] struct {
	heap    []*place[K]
	compare func(a, b K) int
}

func (o *order[K]) Len() int { return len(o.heap) }

func (o *order[K]) Less(i, j int) bool {
	a, b := o.heap[i], o.heap[j]
	return cmp.Or(a.at.Compare(b.at), o.compare(a.key, b.key)) < 0
}

func (o *order[K]) Swap(i, j int) {
	o.heap[i], o.heap[j] = o.heap[j], o.heap[i]
	o.heap[i].index, o.heap[j].index = i, j
}

// Push implements heap.Interface.
func (o *order[K]) Push(x any) {
	p := x.(*place[K])
	p.index = len(o.heap)
	o.heap = append(o.heap, p)
}

// Pop implements heap.Interface.
func (o *order[K]) Pop() any {
	n := len(o.heap) - 1
	last := o.heap[n]
	o.heap[n] = nil
	o.heap = o.heap[:n]
	return last
}
