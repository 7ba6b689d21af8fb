package storage

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Exclusive is the store for one caller, while no other request is carried out. A lease may still expire.
type Exclusive struct{ etcd *Etcd }

// Exclude calls f when the requests in flight have ended. Others wait until f has returned, regardless of their
// contexts. Only an embedded etcd can exclude others: the error is ErrShared for an external cluster, ErrReadOnly or
// ErrUnavailable, or f's.
func (e *Etcd) Exclude(f func(*Exclusive) error) error {
	if e.local == nil {
		return ErrShared
	}
	if err := e.beginWrite(context.Background()); err != nil {
		return err
	}
	e.endRequest()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.life.Err() != nil {
		return e.ended()
	}
	// etcd carries out requests in order. So after this transaction it carries out no commit that a caller has given
	// up. The transaction writes nothing: no key has such a revision.
	never := clientv3.Compare(clientv3.ModRevision(e.root), "=", -1)
	if _, err := e.client.Txn(e.life).If(never).Then(clientv3.OpPut(e.root, "")).Commit(); err != nil {
		return fmt.Errorf("excluding other requests: %w", e.failure(e.life, err))
	}
	return f(&Exclusive{e})
}

// Revision returns the store's revision. Followers soon reach it.
func (x *Exclusive) Revision() int64 {
	rev := x.etcd.local.Etcd().KV().Rev()
	x.etcd.followers.require(rev)
	return rev
}

// Admit returns ErrNoSpace if there is no space for keys and values of this size in bytes.
func (x *Exclusive) Admit(bytes int) error { return x.etcd.local.Admit(bytes, true) }

// Commit carries out one transaction for which Admit has found space. It may be called from any goroutine. Errors: as
// Store.Commit's.
func (x *Exclusive) Commit(ctx context.Context, t Txn) (int64, error) { return x.etcd.commit(ctx, t) }

// Forget makes reads at earlier revisions fail with ErrCompacted.
func (x *Exclusive) Forget(rev int64) { x.etcd.floor.Store(rev) }

// Life is done when the store is being closed.
func (x *Exclusive) Life() context.Context { return x.etcd.life }
