package endpoints

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// flushCost is about what it takes to send something to one watcher, on both sides together: a record of
	// TLS, a system call for each, and being woken.
	flushCost = 40 * time.Microsecond
	// leastGathering isn't worth a timer if it is less; mostGathering is how old an event may become.
	leastGathering, mostGathering = 500 * time.Microsecond, 20 * time.Millisecond
)

// gathering is how long one of so many watchers of the same events is left alone after it has been sent
// some: as long as it takes to send something to all of them. Without it each of many watchers is sent
// each event by itself as soon as they can't keep up, at a cost that keeps them from ever doing so. What
// comes after a pause is sent at once, and where watchers are few everything is.
func gathering(watchers int64) time.Duration {
	d := time.Duration(watchers) * flushCost
	if d < leastGathering {
		return 0
	}
	return min(d, mostGathering)
}

// crowds count the watches of each collection that has any.
type crowds struct {
	mu     sync.Mutex // guards counts, and that none is in it that is 0
	counts map[string]*atomic.Int64
}

// join counts one more watch of a collection, until leave is called. count is that of all.
func (c *crowds) join(collection string) (count *atomic.Int64, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.counts[collection]
	if n == nil {
		n = &atomic.Int64{}
		if c.counts == nil {
			c.counts = map[string]*atomic.Int64{}
		}
		c.counts[collection] = n
	}
	n.Add(1)
	return n, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if n.Add(-1) == 0 {
			delete(c.counts, collection)
		}
	}
}

// gather waits until the watch may be sent something again, and reports whether it had to.
func (w *watch) gather(ctx context.Context) (waited bool) {
	wait := gathering(w.crowd.Load()) - time.Since(w.sent)
	if wait <= 0 {
		return false
	}
	if w.pause == nil {
		w.pause = time.NewTimer(wait)
	} else {
		w.pause.Reset(wait)
	}
	select {
	case <-w.pause.C:
	case <-ctx.Done():
	case <-w.api.watches.closing:
	}
	return true
}
