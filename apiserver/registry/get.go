package registry

import (
	"context"
	"errors"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	upstream "k8s.io/apiserver/pkg/storage"

	"github.com/kubecascade/kubecascade/storage"
)

// Load returns the stored object by a consistent read, or nil if it does not exist.
func (s *Registry) Load(ctx context.Context, key string) (*storage.Object, error) {
	if err := s.Fresh(ctx); err != nil {
		return nil, err
	}
	o, _ := s.Cache.Get(key)
	if o == nil {
		return nil, nil
	}
	return s.readable(o)
}

// cached returns the object from the cache, even if it is unreadable. If the cache does not have it, it makes a
// consistent read.
func (s *Registry) cached(ctx context.Context, key string) (*storage.Object, error) {
	if o, _ := s.Cache.Get(key); o != nil {
		return o, nil
	}
	return s.Load(ctx, key)
}

// ascend calls yield for the objects of a target in the cache, in key order, until yield returns false.
func (s *Registry) ascend(t Target, yield func(*storage.Object) bool) error {
	snap, err := s.Cache.Snapshot(t.Resource.Collection, 0)
	if err == nil {
		snap.Ascend(t.Key(s.Root), "")(yield)
	}
	return err
}

// Fresh waits until the cache has every write that was acknowledged before the call.
func (s *Registry) Fresh(ctx context.Context) error {
	rev, err := s.Store.Revision(ctx)
	if err != nil {
		return err
	}
	return s.Cache.Wait(ctx, rev)
}

// Get returns the object at least as fresh as the revision (see Find), or an error if it can't be decoded.
func (s *Registry) Get(ctx context.Context, t Target, revision string) (*storage.Object, error) {
	cur, err := s.Find(ctx, t, revision)
	if err != nil {
		return nil, err
	}
	if err := s.Readable(t.Resource, cur); err != nil {
		return nil, s.ReadError(cur.Key, err)
	}
	return cur, nil
}

// Find returns the object at least as fresh as the revision: "" is a consistent read, "0" any cached state, N a state
// not older than N. It does not check whether the value can be decoded.
func (s *Registry) Find(ctx context.Context, t Target, revision string) (*storage.Object, error) {
	rev, err := ParseRevision(revision)
	if err != nil {
		return nil, err
	}
	switch {
	case revision == "":
		err = s.Fresh(ctx)
	case rev > 0:
		err = s.WaitFor(ctx, rev)
	}
	if err != nil {
		return nil, err
	}
	key := t.Key(s.Root)
	cur, _ := s.Cache.Get(key)
	if cur == nil {
		return nil, t.NotFound()
	}
	return cur, nil
}

// ParseRevision parses a resourceVersion; "" is 0.
func ParseRevision(revision string) (int64, error) {
	if revision == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(revision, 10, 64)
	if err != nil {
		return 0, field.ErrorList{field.Invalid(field.NewPath("resourceVersion"), revision, err.Error())}.ToAggregate()
	}
	return int64(min(n, 1<<62)), nil
}

// revisionWait is the time for which a read waits for a revision that does not exist yet (H-11).
const revisionWait = 3 * time.Second

// WaitFor waits until the cache has the revision, and returns an error if that takes too long (H-11).
func (s *Registry) WaitFor(ctx context.Context, rev int64) error {
	if s.Cache.Revision() >= rev {
		return nil
	}
	if err := s.Fresh(ctx); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, revisionWait)
	defer cancel()
	err := s.Cache.Wait(short, rev)
	if err != nil && errors.Is(short.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return upstream.NewTooLargeResourceVersionError(uint64(rev), uint64(s.Cache.Revision()), 1)
	}
	return err
}
