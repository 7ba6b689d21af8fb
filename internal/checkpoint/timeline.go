package checkpoint

import (
	"context"
	"fmt"
	"sync"

	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Timeline passes the store's timeline to the table of types and to the cache. It can be held back, so that no reader
// sees only a part of a rollback's writes.
type Timeline struct {
	Definitions *customresource.Installer
	Cache       *cache.Cache

	mu sync.Mutex // is held while a batch is applied; guards the fields below
	// While held is set, batches are not applied; kept has all of them.
	held bool
	kept storage.Batch
	// more is closed when kept has grown.
	more chan struct{}
}

// Follow returns the sink of storage.Store.Follow.
func (t *Timeline) Follow(b storage.Batch) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.held {
		return t.apply(b)
	}
	if b.Reset {
		t.kept = storage.Batch{Reset: true}
	}
	t.kept.Events = append(t.kept.Events, b.Events...)
	t.kept.Revision = b.Revision
	close(t.more)
	t.more = make(chan struct{})
	return nil
}

// apply applies a batch. Types come first, as Installer requires.
func (t *Timeline) apply(b storage.Batch) error {
	return t.Cache.Apply(t.Definitions.Apply(b))
}

// hold keeps all later batches until release, so that the cache does not change.
func (t *Timeline) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held, t.kept, t.more = true, storage.Batch{Revision: t.Cache.Revision()}, make(chan struct{})
}

// release waits until everything up to the revision is kept, and applies it as one batch, with which history begins. If
// ctx is done before, the kept batches are lost.
func (t *Timeline) release(ctx context.Context, revision int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.kept.Revision < revision {
		more := t.more
		t.mu.Unlock()
		select {
		case <-more:
			t.mu.Lock()
		case <-ctx.Done():
			t.mu.Lock()
			return fmt.Errorf("waiting for revision %d: %w", revision, ctx.Err())
		}
	}
	b := t.kept
	b.Cut = true
	t.held, t.kept = false, storage.Batch{}
	return t.apply(b)
}
