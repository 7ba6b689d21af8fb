package cache

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kubecascade/kubecascade/storage"
)

// Snapshot is a collection at one revision. It is immutable, and keeps its objects in memory.
type Snapshot struct {
	collection string
	revision   int64
	objects    *tree
}

// Snapshot returns a collection at revision rev; 0 means the newest. A collection that never had objects is empty.
// Errors: ErrExpired if history doesn't reach back to rev (an *ExpiredError), storage.ErrFuture if rev is beyond
// Revision.
func (c *Cache) Snapshot(collection string, rev int64) (*Snapshot, error) {
	s := c.state.Load()
	if rev == 0 {
		rev = s.revision
	}
	v := s.version(collection)
	if v == nil {
		v = &version{name: collection, log: newLog(0, s.base)}
	}
	switch {
	case rev < v.log.floor || s.revision == 0:
		return nil, &ExpiredError{Revision: rev, Oldest: v.log.floor}
	case rev > s.revision:
		return nil, fmt.Errorf("reading %s at revision %d of %d: %w", collection, rev, s.revision, storage.ErrFuture)
	}
	return &Snapshot{collection: v.name, revision: rev, objects: c.past.at(v, rev)}, nil
}

// Collection is the collection's name.
func (s *Snapshot) Collection() string { return s.collection }

// Revision is the revision of the snapshot.
func (s *Snapshot) Revision() int64 { return s.revision }

// Len is the number of objects.
func (s *Snapshot) Len() int { return s.objects.length() }

// Get returns the object stored under the full key; nil if there is none.
func (s *Snapshot) Get(key string) *storage.Object { return s.objects.get(key) }

// Ascend calls yield for the objects whose full keys have the prefix and are not less than from, in
// byte order of their keys, until it returns false.
func (s *Snapshot) Ascend(prefix, from string, yield func(*storage.Object) bool) {
	s.objects.scan(prefix, from, yield)
}

// Count returns how many objects Ascend would yield.
func (s *Snapshot) Count(prefix, from string) int { return s.objects.count(prefix, from) }

// pastTrees is how many past trees are kept.
const pastTrees = 32

// past keeps the most recently used trees of past revisions: all pages of one list use the same. A tree is identified
// by the number of the first event that it doesn't have.
type past struct {
	// mu guards kept. It is only held for short operations.
	mu sync.Mutex
	// kept has the most recently used tree at its end.
	kept []pastTree
}

type pastTree struct {
	collection string
	seq        uint64
	objects    *tree
}

// at returns a version's objects at rev, which must be in its history.
func (p *past) at(v *version, rev int64) *tree {
	seq := v.log.after(rev)
	if seq == v.log.end {
		return v.objects
	}
	if objects, ok := p.find(v.name, seq); ok {
		return objects
	}
	objects := undo(v, seq)
	p.keep(pastTree{collection: v.name, seq: seq, objects: objects})
	return objects
}

// undo returns the objects before the event seq.
func undo(v *version, seq uint64) *tree {
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

func (p *past) find(collection string, seq uint64) (*tree, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, t := range p.kept {
		if t.collection == collection && t.seq == seq {
			p.kept = append(slices.Delete(p.kept, i, i+1), t)
			return t.objects, true
		}
	}
	return nil, false
}

func (p *past) keep(t pastTree) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.kept, func(k pastTree) bool { return k.collection == t.collection && k.seq == t.seq }) {
		return
	}
	if len(p.kept) >= pastTrees {
		p.kept = slices.Delete(p.kept, 0, 1)
	}
	p.kept = append(p.kept, t)
}

// forget drops the trees that are older than the history, as they would keep dropped events in memory.
func (p *past) forget(s *state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = slices.DeleteFunc(p.kept, func(t pastTree) bool { return t.seq < s.version(t.collection).log.first })
}
