package endpoints

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// flushCost is about the processor time of sending to one watcher, of both sides together: a record of TLS, a
	// system call for each, and a wake-up.
	flushCost = 40 * time.Microsecond
	// leastBatch is the shortest time that is worth a timer; mostBatch is how long an event may wait.
	leastBatch, mostBatch = 500 * time.Microsecond, 20 * time.Millisecond
)

// batchTime is how long events for one of so many watchers of a collection are batched after it has been sent some: as
// long as it takes to send to all of them. Without it many watchers that fall behind are sent each event by itself, at
// a cost that keeps them behind. Events after a pause are sent at once; with few watchers all are.
func batchTime(watchers int64) time.Duration {
	d := time.Duration(watchers) * flushCost
	if d < leastBatch {
		return 0
	}
	return min(d, mostBatch)
}

// watchCounts are the numbers of watches, by what they have in common, such as the collection.
type watchCounts struct {
	mu     sync.Mutex // guards counts, and that none is in it that is 0
	counts map[string]*atomic.Int64
}

// join counts one more watch with something in common until leave is called. count is the number of all.
func (c *watchCounts) join(common string) (count *atomic.Int64, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.counts[common]
	if n == nil {
		n = &atomic.Int64{}
		if c.counts == nil {
			c.counts = map[string]*atomic.Int64{}
		}
		c.counts[common] = n
	}
	n.Add(1)
	return n, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if n.Add(-1) == 0 {
			delete(c.counts, common)
		}
	}
}

// waitBatch waits until the watch may be sent something again, and reports whether it had to.
func (w *watch) waitBatch(ctx context.Context) (waited bool) {
	wait := batchTime(w.watching.Load()) - time.Since(w.sent)
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
