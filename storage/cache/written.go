package cache

import (
	"maps"
	"sync"

	"github.com/kubecascade/kubecascade/storage"
)

// mostWritten is the maximum number of objects that wait for their events.
const mostWritten = 1 << 10

// written has the objects that this process has written and whose events have not arrived.
type written struct {
	mu      sync.Mutex // guards objects
	objects map[int64]*storage.Object
}

// Share returns the cache's object for o, which this process has written and decoded, so that it is decoded, verified
// and encoded once. If the event of the write has not arrived, Share returns o, and the event will use it.
func (c *Cache) Share(o *storage.Object) *storage.Object {
	c.written.mu.Lock()
	defer c.written.mu.Unlock()
	switch now, at := c.Get(o.Key); {
	case at >= o.Revision && now != nil && now.Revision == o.Revision:
		now.SetVerifiedAs(o)
		return now
	case at < o.Revision && len(c.written.objects) < mostWritten:
		c.written.objects[o.Revision] = o
	}
	return o
}

// at returns the object that was written at a revision; nil if there is none.
func (w *written) at(rev int64) *storage.Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.objects[rev]
}

// forget drops the objects up to a revision.
func (w *written) forget(rev int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.objects, func(of int64, _ *storage.Object) bool { return of <= rev })
}
