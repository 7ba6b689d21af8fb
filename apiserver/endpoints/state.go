package endpoints

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// state is a collection at one revision, in key order.
type state interface {
	Revision() int64
	// Ascend calls yield for the objects with keys from from on, in byte order, until yield returns false. want is the
	// expected number of objects. 0 means all. Errors: storage.ErrCompacted.
	Ascend(ctx context.Context, from string, want int, yield func(*storage.Object) bool) error
	// Count returns the number of objects from a key on.
	Count(ctx context.Context, from string) (int64, error)
}

// cached is a state in the cache.
type cached struct {
	*cache.Snapshot
	// prefix is the common prefix of the keys.
	prefix string
}

// Ascend implements state.
func (c cached) Ascend(_ context.Context, from string, _ int, yield func(*storage.Object) bool) error {
	c.Snapshot.Ascend(c.prefix, from)(yield)
	return nil
}

// Count implements state.
func (c cached) Count(_ context.Context, from string) (int64, error) {
	return int64(c.Snapshot.Count(c.prefix, from)), nil
}

// past is a state that is no longer in the cache, only in etcd. It is read in pages, and not cached.
type past struct {
	a        *API
	prefix   string
	revision int64
	// left is the number of objects from the key next on. The last page reported it.
	next string
	left int64
}

const (
	// pastReads is the number of pages that all requests together read at the same time.
	pastReads = 4
	// firstPast is the number of records of the first page, maxPast the limit for any page. Later pages have about
	// pastBytes.
	firstPast, maxPast, pastBytes = 100, 5000, 1 << 20
)

// Revision implements state.
func (p *past) Revision() int64 { return p.revision }

// Ascend implements state. It uses an object in the cache if it has the same revision.
func (p *past) Ascend(ctx context.Context, from string, want int, yield func(*storage.Object) bool) error {
	limit := int64(want)
	if want <= 0 {
		limit = firstPast
	}
	for from = max(from, p.prefix); ; {
		page, err := p.read(ctx, from, min(limit, maxPast))
		if err != nil {
			return err
		}
		size := 1
		for _, r := range page.Records {
			size += len(r.Value)
			o, _ := p.a.Registry.Cache.Get(r.Key)
			if o == nil || o.Revision != r.ModRevision {
				o = p.a.Registry.Decoder.Decode(r)
			}
			if !yield(o) {
				return nil
			}
		}
		if !page.More {
			return nil
		}
		from = p.next
		limit = max(1, int64(len(page.Records)*pastBytes/size))
	}
}

func (p *past) read(ctx context.Context, from string, limit int64) (storage.Page, error) {
	if err := p.a.pastReads.Acquire(ctx, 1); err != nil {
		return storage.Page{}, err
	}
	defer p.a.pastReads.Release(1)
	page, err := p.a.Registry.Store.List(ctx, storage.Range{
		Prefix: p.prefix, From: from, Limit: limit, Revision: p.revision,
	})
	if err != nil {
		return page, fmt.Errorf("reading %s at revision %d: %w", p.prefix, p.revision, err)
	}
	if n := len(page.Records); n > 0 {
		p.next, p.left = page.Records[n-1].Key+"\x00", page.Remaining
	}
	return page, nil
}

// Count implements state.
func (p *past) Count(ctx context.Context, from string) (int64, error) {
	if from != "" && from == p.next {
		return p.left, nil
	}
	page, err := p.read(ctx, max(from, p.prefix), 1)
	return int64(len(page.Records)) + page.Remaining, err
}

// cost estimates the memory of a number of objects or, if it is 0, of all objects from a key on.
func (p *past) cost(ctx context.Context, from string, objects int64) (bytes int64, err error) {
	if objects == 0 {
		objects, err = p.Count(ctx, from)
	}
	return objects * 4 << 10, err
}

// stateAt returns the state at one revision, or the newest for 0. It is read from the cache's history or, if that is
// too short, from etcd's, which begins at the last compaction.
func (a *API) stateAt(collection string, sel *registry.Selection, rev int64) (state, error) {
	snap, err := a.Registry.Cache.Snapshot(collection, rev)
	if rev == 0 || !errors.Is(err, cache.ErrExpired) {
		return cached{snap, sel.Prefix}, err
	}
	return &past{a: a, prefix: sel.Prefix, revision: rev}, nil
}
