package pace

import (
	"runtime"
	"runtime/metrics"
	"sync"

	"github.com/kubecascade/kubecascade/internal/garbage"
)

// rare is how many bytes may be allocated between two collections of a large heap while garbage.Made is called. Its
// callers do work that is rare and slow, such as reading pages at old revisions from etcd. Without this bound, it would
// use as much memory as frequent requests, for which a large heap grows by 128 MiB.
const rare = 32 << 20

// due reports whether to collect a heap with so many bytes of objects, of which so many were live after the last
// collection.
func due(objects, live uint64) bool { return live > large && objects > live+rare }

// collector collects when it is due. Its methods may be called from any goroutine.
type collector struct {
	// look returns the arguments of due.
	look func() (objects, live uint64)
	// collect collects; it returns afterwards.
	collect func()
	// mu guards done, which is closed after the collection that runs; nil if none does.
	mu   sync.Mutex
	done chan struct{}
}

// made is garbage's handler. It waits for the collection only if twice as much as allowed was allocated before its end.
func (c *collector) made() {
	objects, live := c.look()
	if !due(objects, live) {
		return
	}
	if done := c.begin(); objects > live+2*rare {
		<-done
	}
}

// begin begins a collection unless one runs. The channel is closed after it.
func (c *collector) begin() (done <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		go func() {
			c.collect()
			c.mu.Lock()
			defer c.mu.Unlock()
			close(c.done)
			c.done = nil
		}()
	}
	return c.done
}

// handle makes garbage's callers collect.
func handle() {
	c := &collector{collect: runtime.GC, look: func() (objects, live uint64) {
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
		metrics.Read(heap)
		return heap[0].Value.Uint64(), heap[1].Value.Uint64()
	}}
	garbage.Handle(c.made)
}
