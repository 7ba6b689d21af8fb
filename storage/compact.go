package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// compactKey is where all servers of one etcd agree on what was compacted last; it is
// kube-apiserver's key, so that they can share a cluster
// (AS pkg/storage/etcd3/compact.go).
const compactKey = "compact_rev_key"

// Compactor forgets history at intervals. Of several over one etcd, the first in an interval does
// the work.
type Compactor struct {
	store Store
	every time.Duration
	log   *slog.Logger
	// seen is the mod revision of compactKey, and next the store's revision at that time: what the
	// next round forgets, so that a client has at least one interval to go on from what it has seen.
	seen, next int64
}

// NewCompactor takes part in the agreement; every is the interval, 0 means never. By its first
// write no store that is served is at etcd's very first revision; one that has no space for it isn't
// anyway.
func NewCompactor(ctx context.Context, store Store, every time.Duration, log *slog.Logger) (*Compactor, error) {
	c := &Compactor{store: store, every: every, log: log}
	if _, err := c.mark(ctx); err != nil && !errors.Is(err, ErrNoSpace) {
		return nil, fmt.Errorf("preparing compaction: %w", err)
	}
	return c, nil
}

// mark writes the revision of this round if nobody has since the last; won says whether.
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

// round compacts to the revision of the round before, if this server is the first to. Where there is
// no space for the mark it compacts without: history is what takes the space, and that several
// servers compact does no harm. An external cluster's operator must still defragment it and disarm
// its alarm before it takes puts again.
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
	if err := c.store.Compact(ctx, target); err != nil && !errors.Is(err, ErrCompacted) {
		return err
	}
	return nil
}
