package registry

import (
	"context"
	"errors"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/past"
)

// State is a collection at one revision, in key order.
type State interface {
	Revision() int64
	// Ascend calls yield for the objects whose full keys are not less than from, in byte order, until yield returns
	// false. want is the expected number of objects; 0 means all. Errors: storage.ErrCompacted.
	Ascend(ctx context.Context, from string, want int, yield func(*storage.Object) bool) error
	// Count returns the number of objects from a key on.
	Count(ctx context.Context, from string) (int64, error)
}

// Cached is a state that is in the cache.
type Cached struct {
	*cache.Snapshot
	// Prefix is the common prefix of the keys.
	Prefix string
}

// Ascend implements State.
func (c Cached) Ascend(_ context.Context, from string, _ int, yield func(*storage.Object) bool) error {
	c.Snapshot.Ascend(c.Prefix, from, yield)
	return nil
}

// Count implements State.
func (c Cached) Count(_ context.Context, from string) (int64, error) {
	return int64(c.Snapshot.Count(c.Prefix, from)), nil
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

// Newest returns the current state of the cache.
func (s *Registry) Newest(collection string, sel *Selection) (State, error) {
	snap, err := s.Cache.Snapshot(collection, 0)
	return Cached{snap, sel.Prefix}, err
}

// StateAt returns the state at exactly one revision. It is read from the cache's history or, if that is too short, from
// etcd's, which reaches back to the last compaction.
func (s *Registry) StateAt(collection string, sel *Selection, rev int64) (State, error) {
	snap, err := s.Cache.Snapshot(collection, rev)
	switch {
	case !errors.Is(err, cache.ErrExpired):
		return Cached{snap, sel.Prefix}, err
	case sel.Key != "":
		return single{s.Past.View(sel.Prefix, rev), sel.Key}, nil
	}
	return s.Past.View(sel.Prefix, rev), nil
}
