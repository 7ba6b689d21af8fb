package apiserver

import (
	"context"
	"errors"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/past"
)

// state is what a selection narrows by key, at one revision.
type state interface {
	Revision() int64
	// Ascend calls yield for the objects whose full keys are not less than from, in byte order, until it returns
	// false. want is how many are expected to be needed; 0 means all. Errors: storage.ErrCompacted.
	Ascend(ctx context.Context, from string, want int, yield func(*storage.Object) bool) error
	// Count returns how many objects there are from a key on.
	Count(ctx context.Context, from string) (int64, error)
}

// cached is a state that the cache has.
type cached struct {
	*cache.Snapshot
	prefix string
}

func (c cached) Ascend(_ context.Context, from string, _ int, yield func(*storage.Object) bool) error {
	c.Snapshot.Ascend(c.prefix, from, yield)
	return nil
}

func (c cached) Count(_ context.Context, from string) (int64, error) {
	return int64(c.Snapshot.Count(c.prefix, from)), nil
}

// single is a past state of one key.
type single struct {
	*past.View
	key string
}

func (o single) Ascend(ctx context.Context, from string, _ int, yield func(*storage.Object) bool) error {
	if from > o.key {
		return nil
	}
	obj, err := o.View.Get(ctx, o.key)
	if err == nil && obj != nil {
		yield(obj)
	}
	return err
}

// newest returns the state that the cache has now.
func (s *registry) newest(collection string, sel *selected) (state, error) {
	snap, err := s.cache.Snapshot(collection, 0)
	return cached{snap, sel.prefix}, err
}

// stateAt returns the state at exactly one revision: out of the cache's history, or else out of etcd's, which reaches
// back to the last compaction.
func (s *registry) stateAt(collection string, sel *selected, rev int64) (state, error) {
	snap, err := s.cache.Snapshot(collection, rev)
	switch {
	case !errors.Is(err, cache.ErrExpired):
		return cached{snap, sel.prefix}, err
	case sel.key != "":
		return single{s.past.View(sel.prefix, rev), sel.key}, nil
	}
	return s.past.View(sel.prefix, rev), nil
}

// ahead returns past.Options.Ahead by the newest state. It walks over the n objects, which is little beside reading them.
func ahead(c *cache.Cache, root string) func(prefix, from string, n int) string {
	return func(prefix, from string, n int) (end string) {
		collection, _, ok := storage.Collection(root, prefix+"x")
		if !ok {
			return ""
		}
		snap, err := c.Snapshot(collection, 0)
		if err != nil {
			return ""
		}
		snap.Ascend(prefix, from, func(o *storage.Object) bool {
			if n--; n < 0 {
				end = o.Key
			}
			return n >= 0
		})
		return end
	}
}

// known returns past.Options.Known by the newest state.
func known(c *cache.Cache) func(key string, rev int64) *storage.Object {
	return func(key string, rev int64) *storage.Object {
		if o, _ := c.Get(key); o != nil && o.Revision == rev {
			return o
		}
		return nil
	}
}
