package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// compactKey is the key by which all servers of one etcd agree on the last compaction. It is kube-apiserver's key, so
// that both can share a cluster (AS pkg/storage/etcd3/compact.go).
const compactKey = "compact_rev_key"

// Compactor compacts etcd's history at intervals. Of several servers over one etcd, the first in an interval compacts.
type Compactor struct {
	store Store
	every time.Duration
	log   *slog.Logger
	// seen is the mod revision of compactKey, and next the store's revision at that time. The next round compacts up to
	// next, so that a client can resume for at least one interval from a revision that it has seen.
	seen, next int64
}

// NewCompactor writes compactKey; every is the interval, 0 means no compactions. Because of that write, a served store
// never has etcd's first revision. A store without space for the write has a later revision anyway.
func NewCompactor(ctx context.Context, store Store, every time.Duration, log *slog.Logger) (*Compactor, error) {
	c := &Compactor{store: store, every: every, log: log}
	if _, err := c.mark(ctx); err != nil && !errors.Is(err, ErrNoSpace) {
		return nil, fmt.Errorf("preparing compaction: %w", err)
	}
	return c, nil
}

// mark writes compactKey unless another server has written it since the last round; won reports whether mark did.
func (c *Compactor) mark(ctx context.Context) (won bool, err error) {
	rev, err := c.store.Commit(ctx, Txn{Key: compactKey, Expect: c.seen, Value: strconv.AppendInt(nil, c.next, 10)})
	var lost *ConflictError
	if errors.As(err, &lost) {
		c.seen, c.next = lost.Current.ModRevision, lost.Revision
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.seen, c.next = rev, rev
	return true, nil
}

// Run compacts until ctx is done.
func (c *Compactor) Run(ctx context.Context) {
	if c.every <= 0 {
		return
	}
	t := time.NewTicker(c.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := c.round(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("failed to compact etcd", "err", err)
		}
	}
}

// round compacts to the revision of the round before, if this server is the first to do so. If there is no space to
// write compactKey, it compacts anyway: the history takes the space, and a second compaction does no harm. An external
// cluster's operator must still defragment it and disarm its alarm before it accepts puts again.
func (c *Compactor) round(ctx context.Context) error {
	target := c.next
	won, err := c.mark(ctx)
	if errors.Is(err, ErrNoSpace) {
		c.next, err = c.store.Revision(ctx)
		won = target > 0
	}
	if err != nil || !won {
		return err
	}
	return c.store.Compact(ctx, target)
}
