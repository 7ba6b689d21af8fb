package gc

import (
	"context"
	"slices"
	"time"

	"github.com/kubecascade/kubecascade/storage/cache"
)

// soon is how soon a retry must be due for the collector not to be idle: later ones follow repeated failures.
const soon = time.Second

// idleRequest asks to close reply when the collector is idle at the revision or a later one.
type idleRequest struct {
	revision int64
	reply    chan struct{}
}

// Idle waits until the collector has processed the timeline up to the revision, its requests are answered, the timeline
// has shown their effects, and no retry is due soon. It returns nil as well when the collector has ended. The timeline
// must have reached the revision.
func (c *Collector) Idle(ctx context.Context, revision int64) error {
	r := idleRequest{revision, make(chan struct{})}
	select {
	case c.idles <- r:
	case <-c.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.reply:
	case <-c.stopped:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// answerIdle answers the requests of Idle for which the collector is idle.
func (c *Collector) answerIdle(w *cache.Watcher) {
	if len(c.waiting) == 0 {
		return
	}
	s := c.graph.Stats()
	if s.Ready+s.InFlight+s.Settled+len(c.underWay) > 0 || c.queue.isDue(time.Now().Add(soon)) {
		return
	}
	reached := w.Progress()
	c.waiting = slices.DeleteFunc(c.waiting, func(r idleRequest) bool {
		if r.revision > reached {
			return false
		}
		close(r.reply)
		return true
	})
}

// isDue reports whether a ticket is due at the time.
func (q *queue) isDue(at time.Time) bool { return len(q.heap) > 0 && !q.heap[0].at.After(at) }
