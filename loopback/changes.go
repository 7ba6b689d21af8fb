package loopback

import (
	"sync"

	"github.com/kubecascade/kubecascade/storage/cache"
)

// Changes is reconcile.Changes for events of some collections.
type Changes struct {
	Cache       *cache.Cache
	Collections []string
	// Matters reports whether an event is a change; nil for all.
	Matters func(*cache.Event) bool

	mu       sync.Mutex // guards what follows
	watchers []*cache.Watcher
	seen     bool
}

// Reset implements reconcile.Changes.
func (c *Changes) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers, c.seen = nil, false
	for _, collection := range c.Collections {
		w, err := c.Cache.Watch(collection, c.Cache.Revision())
		if err != nil { // nothing is known yet, or history ends with this revision: the next check will tell
			c.seen = true
			return
		}
		c.watchers = append(c.watchers, w)
	}
}

// Seen implements reconcile.Changes. It is true if history was dropped.
func (c *Changes) Seen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.watchers {
		for !c.seen {
			events, _, err := w.Poll()
			if len(events) == 0 && err == nil {
				break
			}
			c.seen = err != nil
			for _, e := range events {
				c.seen = c.seen || c.Matters == nil || c.Matters(e)
			}
		}
	}
	return c.seen
}
