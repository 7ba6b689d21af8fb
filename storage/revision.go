package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/singleflight"
)

// Revision implements Store. The embedded server's revision is read from its memory; see read for why that is
// linearizable. For an external cluster, one request serves all waiting callers.
func (e *Etcd) Revision(ctx context.Context) (rev int64, err error) {
	if e.local != nil {
		rev, err = e.readRevision(ctx)
	} else {
		select {
		case r := <-e.reads.waiting.DoChan("", e.readForAll):
			rev, err = r.Val.(int64), r.Err
		case <-ctx.Done():
			err = fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
		}
	}
	if err != nil {
		return 0, fmt.Errorf("reading the revision: %w", err)
	}
	e.followers.require(rev)
	return rev, nil
}

// sharedRead reads the revision of an external cluster once for all callers that wait when the read begins. Callers
// never join an active read: its result may be older than a write that they know of.
type sharedRead struct {
	waiting singleflight.Group
	active  sync.Mutex // is held by the active read
}

// readForAll performs one such read.
func (e *Etcd) readForAll() (any, error) {
	e.reads.active.Lock()
	defer e.reads.active.Unlock()
	e.reads.waiting.Forget("")
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout) // Close ends it by closing the client
	defer cancel()
	return e.readRevision(ctx)
}

// readRevision reads the revision. In an external cluster it reads a key below the root, for etcd users who may read no
// others.
func (e *Etcd) readRevision(ctx context.Context) (int64, error) {
	if err := e.beginRequest(ctx); err != nil {
		return 0, err
	}
	defer e.endRequest()
	if e.local != nil {
		return e.local.Etcd().KV().Rev(), nil
	}
	resp, err := e.client.Get(ctx, e.root+"/", clientv3.WithKeysOnly())
	if err != nil {
		return 0, e.failure(ctx, err)
	}
	return resp.Header.Revision, nil
}

// Compact implements Store. It is no error if history before rev is compacted already.
func (e *Etcd) Compact(ctx context.Context, rev int64) error {
	if err := e.beginWrite(ctx); err != nil {
		return err
	}
	defer e.endRequest()
	_, err := e.client.Compact(ctx, rev)
	if err == nil || errors.Is(err, rpctypes.ErrCompacted) {
		return nil
	}
	return fmt.Errorf("compacting to revision %d: %w", rev, e.failure(ctx, err))
}
