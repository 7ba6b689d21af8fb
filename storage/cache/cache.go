package cache

import (
	"container/list"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubecascade/kubecascade/storage"
)

// Cache is the newest state of the store and its recent history. New makes one.
type Cache struct {
	decoder storage.Decoder
	// each limits the log of one collection, line that of the timeline, and whole those of all collections together.
	each, line, whole limits
	// mu is held while a draft is made and published: by Apply, and by the first watch of a collection without objects.
	// Readers of the state don't lock it.
	mu        sync.Mutex
	state     atomic.Pointer[state]
	ready     chan struct{}
	encodings *encodings
	written   written
}

// New returns an empty cache; it is ready after the first batch.
func New(o Options) *Cache {
	o = o.withDefaults()
	c := &Cache{
		decoder:   o.Decoder,
		each:      limits{events: o.Events, bytes: o.Bytes},
		line:      limits{events: o.TimelineEvents, bytes: o.TimelineBytes},
		whole:     limits{events: o.TimelineEvents, bytes: o.TimelineBytes},
		ready:     make(chan struct{}),
		encodings: &encodings{limit: o.EncodingBytes, kept: map[any]*list.Element{}},
		written:   written{objects: map[int64]*storage.Object{}},
	}
	c.state.Store(newState())
	return c
}

// publish makes a draft the current state, drops the encodings of objects and events that are no longer in it, and
// wakes the watchers that have new events.
func (c *Cache) publish(d *draft) {
	c.state.Store(d.state)
	if d.base != d.from.base { // all history is dropped
		c.encodings.clear()
	}
	for _, of := range d.stale {
		c.encodings.drop(of)
	}
	for _, ch := range d.ended {
		close(ch)
	}
}

// Revision returns the revision up to which the timeline was applied; 0 before the first batch.
func (c *Cache) Revision() int64 { return c.state.Load().revision }

// Ready returns a channel that is closed after the first batch.
func (c *Cache) Ready() <-chan struct{} { return c.ready }

// Wait returns when Revision is at least rev, or with ctx's error if ctx is done before.
func (c *Cache) Wait(ctx context.Context, rev int64) error {
	for {
		s := c.state.Load()
		if s.revision >= rev {
			return nil
		}
		select {
		case <-s.next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Get returns the object stored under the full key, nil if there is none, and the timeline's revision at which that is
// true.
func (c *Cache) Get(key string) (*storage.Object, int64) {
	s := c.state.Load()
	collection, _, ok := storage.Collection(c.decoder.Root, key)
	if !ok {
		return nil, s.revision
	}
	v := s.version(collection)
	if v == nil {
		return nil, s.revision
	}
	return v.objects.get(key), s.revision
}

// Everything returns the whole state at one revision: a snapshot of every collection with objects, sorted by
// Snapshot.Collection. Timeline with that revision continues without a gap. It copies no objects. Before the first
// batch the revision is 0.
func (c *Cache) Everything() (rev int64, all []*Snapshot) {
	s := c.state.Load()
	for _, v := range s.versions[timeline+1:] {
		if v.objects.length() > 0 {
			all = append(all, &Snapshot{collection: v.name, revision: s.revision, objects: v.objects})
		}
	}
	slices.SortFunc(all, func(a, b *Snapshot) int { return strings.Compare(a.collection, b.collection) })
	return s.revision, all
}
