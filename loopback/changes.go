package loopback

import (
	"encoding/json"
	"maps"
	"sync"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Changes implements reconcile.Changes for events of some collections.
type Changes struct {
	Cache       *cache.Cache
	Collections []string
	// Matters reports whether an event is a change.
	Matters func(*cache.Event) bool

	mu       sync.Mutex // guards the fields below
	watchers []*cache.Watcher
	seen     bool
}

// SpecChanges returns the changes of objects other than those of their status: new and deleted ones, and changes of the
// spec or the annotations.
func (c *Client) SpecChanges(all ...workload.Resource) *Changes {
	out := &Changes{Cache: c.Cache, Matters: func(e *cache.Event) bool {
		return e.Type != cache.Modified || e.Prev == nil || e.Prev.Meta.Generation != e.Object.Meta.Generation ||
			!maps.Equal(annotations(e.Prev), annotations(e.Object))
	}}
	for _, r := range all {
		out.Collections = append(out.Collections, c.resource(r).Collection)
	}
	return out
}

func annotations(o *storage.Object) map[string]string {
	var v struct {
		Metadata struct{ Annotations map[string]string }
	}
	if json.Unmarshal(o.JSON, &v) != nil {
		return nil
	}
	return v.Metadata.Annotations
}

// Reset implements reconcile.Changes.
func (c *Changes) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers, c.seen = nil, false
	for _, collection := range c.Collections {
		w, err := c.Cache.Watch(collection, c.Cache.Revision())
		if err != nil { // the cache is empty, or its history ends with this revision: the next check decides
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
				c.seen = c.seen || c.Matters(e)
			}
		}
	}
	return c.seen
}
