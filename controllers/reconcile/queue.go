package reconcile

import (
	"cmp"
	"time"

	"github.com/tidwall/btree"
)

// Queue has keys with the times for which they wait, each key once. NewQueue makes one.
type Queue[K comparable] struct {
	order *btree.BTreeG[place[K]]
	times map[K]time.Time
}

// place is a key that waits until a time.
type place[K comparable] struct {
	key K
	at  time.Time
}

// NewQueue returns an empty queue. compare orders keys of the same time.
func NewQueue[K comparable](compare func(a, b K) int) *Queue[K] {
	earlier := func(a, b place[K]) bool { return cmp.Or(a.at.Compare(b.at), compare(a.key, b.key)) < 0 }
	return &Queue[K]{btree.NewBTreeGOptions(earlier, btree.Options{NoLocks: true}), map[K]time.Time{}}
}

// Len returns the number of keys that wait.
func (q *Queue[K]) Len() int { return len(q.times) }

// Put makes a key wait until the time, in place of an earlier time.
func (q *Queue[K]) Put(key K, at time.Time) {
	q.Remove(key)
	q.times[key] = at
	q.order.Set(place[K]{key, at})
}

// Remove removes a key, if it waits.
func (q *Queue[K]) Remove(key K) {
	if at, ok := q.times[key]; ok {
		q.order.Delete(place[K]{key, at})
		delete(q.times, key)
	}
}

// At returns the time for which the key waits; ok is false if it doesn't wait.
func (q *Queue[K]) At(key K) (at time.Time, ok bool) {
	at, ok = q.times[key]
	return at, ok
}

// Due returns the first key if its time has come. It stays in the queue.
func (q *Queue[K]) Due(now time.Time) (key K, ok bool) {
	first, ok := q.order.Min()
	if !ok || first.at.After(now) {
		return key, false
	}
	return first.key, true
}

// Wait returns the time until the first key is due, 0 if it is due; ok is false if no key waits.
func (q *Queue[K]) Wait(now time.Time) (wait time.Duration, ok bool) {
	first, ok := q.order.Min()
	return max(0, first.at.Sub(now)), ok
}

// Earliest returns at most most keys, in the order of their times.
func (q *Queue[K]) Earliest(most int) (keys []K) {
	q.order.Scan(func(p place[K]) bool {
		if len(keys) < most {
			keys = append(keys, p.key)
		}
		return len(keys) < most
	})
	return keys
}
