package cache

import (
	"fmt"
	"iter"
	"slices"

	"github.com/kubecascade/kubecascade/storage"
)

// Snapshot is a collection at one revision. It is immutable, and keeps its objects in memory.
type Snapshot struct {
	collection string
	revision   int64
	objects    *tree
}

// Snapshot returns a collection at revision rev; 0 means the newest. A collection that never had objects is empty.
// Errors: ErrExpired if history doesn't reach back to rev (an *ExpiredError), storage.ErrFuture if rev is later than
// Cache.Revision.
func (c *Cache) Snapshot(collection string, rev int64) (*Snapshot, error) {
	s := c.state.Load()
	if rev == 0 {
		rev = s.revision
	}
	v := s.version(collection)
	if v == nil {
		v = &version{name: collection, objects: newTree(), log: newLog(0, s.base)}
	}
	switch {
	case rev < v.log.floor || s.revision == 0:
		return nil, &ExpiredError{Revision: rev, Oldest: v.log.floor}
	case rev > s.revision:
		return nil, fmt.Errorf("reading %s at revision %d of %d: %w", collection, rev, s.revision, storage.ErrFuture)
	}
	return &Snapshot{collection: v.name, revision: rev, objects: v.at(rev)}, nil
}

// Collection returns the collection's name.
func (s *Snapshot) Collection() string { return s.collection }

// Revision returns the revision of the snapshot.
func (s *Snapshot) Revision() int64 { return s.revision }

// Len returns the number of objects.
func (s *Snapshot) Len() int { return s.objects.length() }

// Get returns the object stored under the full key; nil if there is none.
func (s *Snapshot) Get(key string) *storage.Object { return s.objects.get(key) }

// Ascend yields the objects whose full keys have the prefix and are equal to or greater than from, in byte order of
// their keys.
func (s *Snapshot) Ascend(prefix, from string) iter.Seq[*storage.Object] {
	return s.objects.scan(prefix, from)
}

// Count returns the number of objects that Ascend yields.
func (s *Snapshot) Count(prefix, from string) int { return s.objects.count(prefix, from) }

// at returns the objects at a revision. The history must contain the revision.
func (v *version) at(rev int64) *tree {
	seq := v.log.after(rev)
	if seq == v.log.end {
		return v.objects
	}
	objects := v.objects.clone()
	for i := v.log.end; i > seq; {
		run := v.log.back(i, seq)
		for _, event := range slices.Backward(run) {
			objects.put(event.Object.Key, event.Prev)
		}
		i -= uint64(len(run))
	}
	return objects
}
