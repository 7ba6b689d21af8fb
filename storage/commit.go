package storage

import (
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Commit implements Store. It is one etcd transaction. etcd writes concurrent transactions to the disk together, so
// callers should send many at a time.
func (e *Etcd) Commit(ctx context.Context, t Txn) (int64, error) {
	if err := e.beginWrite(ctx); err != nil {
		return 0, err
	}
	defer e.endRequest()
	if e.local != nil && t.Value != nil {
		if err := e.local.Admit(len(t.Key)+len(t.Value), t.Expect > 0); err != nil {
			return 0, fmt.Errorf("committing %s: %w", t.Key, err)
		}
	}
	return e.commit(ctx, t)
}

// commit carries out a transaction for which there is space.
func (e *Etcd) commit(ctx context.Context, t Txn) (rev int64, err error) {
	var lease int64
	if t.TTL > 0 && t.Value != nil {
		if lease, err = e.grant(ctx, t.TTL); err != nil {
			return 0, fmt.Errorf("committing %s: %w", t.Key, err)
		}
	}
	rev, err = e.send(ctx, t, lease)
	if err != nil && lease != 0 && !errors.Is(err, ErrUnavailable) {
		e.release(ctx, lease)
	}
	return rev, err
}

func (e *Etcd) send(ctx context.Context, t Txn, lease int64) (int64, error) {
	var options []clientv3.OpOption
	if t.TTL > 0 && t.Expect > 0 { // the present value has a lease of its own
		options = append(options, clientv3.WithPrevKV())
	}
	op := clientv3.OpDelete(t.Key, options...)
	if t.Value != nil {
		op = clientv3.OpPut(t.Key, string(t.Value), append(options, clientv3.WithLease(clientv3.LeaseID(lease)))...)
	}
	resp, err := e.txn(ctx, t, op).Commit()
	if err != nil {
		if err = e.failure(ctx, err); errors.Is(err, ErrNoSpace) {
			// A cluster also returns this error for a put that it has carried out, if others used the space before.
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return 0, fmt.Errorf("committing %s: %w", t.Key, err)
	}
	if !resp.Succeeded {
		return 0, conflict(t, resp)
	}
	e.release(ctx, replacedLease(resp.Responses[0]))
	return resp.Header.Revision, nil
}

// replacedLease returns the lease of the value that a write has replaced or deleted, or 0. PrevKv must be set.
func replacedLease(op *pb.ResponseOp) int64 {
	if put := op.GetResponsePut(); put != nil {
		return put.GetPrevKv().GetLease()
	}
	if kvs := op.GetResponseDeleteRange().GetPrevKvs(); len(kvs) > 0 {
		return kvs[0].Lease
	}
	return 0
}

// txn returns the transaction. If the key and all guards meet their conditions, the transaction does the operation.
// Otherwise it reads the key and the guards, so that a conflict is reported with the present record.
func (e *Etcd) txn(ctx context.Context, t Txn, do clientv3.Op) clientv3.Txn {
	conditions := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(t.Key), "=", t.Expect)}
	reads := []clientv3.Op{clientv3.OpGet(t.Key)}
	for _, g := range t.Guards {
		condition := clientv3.Compare(clientv3.ModRevision(g.Key), "=", g.ModRevision)
		read := []clientv3.OpOption{clientv3.WithKeysOnly()}
		switch {
		case g.Below:
			condition = clientv3.Compare(clientv3.ModRevision(g.Key), "<", g.ModRevision+1).WithPrefix()
			read = append(read, clientv3.WithLastRev()...)
		case g.Held: // the create revision of an absent key is 0
			condition = clientv3.Compare(clientv3.CreateRevision(g.Key), "<", g.ModRevision+1)
		}
		conditions, reads = append(conditions, condition), append(reads, clientv3.OpGet(g.Key, read...))
	}
	return e.client.Txn(ctx).If(conditions...).Then(do).Else(reads...)
}

// conflict returns the condition that did not hold, from the reads of the else branch.
func conflict(t Txn, resp *clientv3.TxnResponse) *ConflictError {
	found := func(i int) *mvccpb.KeyValue {
		if kvs := resp.Responses[i].GetResponseRange().GetKvs(); len(kvs) > 0 {
			return kvs[0]
		}
		return &mvccpb.KeyValue{}
	}
	c := &ConflictError{Revision: resp.Header.Revision}
	if kv := found(0); kv.ModRevision != 0 {
		c.Current = record(kv)
	}
	c.Current.Key = t.Key
	if c.Current.ModRevision != t.Expect {
		return c
	}
	for i, g := range t.Guards {
		if kv := found(i + 1); !g.holds(kv.CreateRevision, kv.ModRevision) {
			c.Guard = &Guard{Key: g.Key, ModRevision: kv.ModRevision, Below: g.Below, Held: g.Held}
			break
		}
	}
	return c
}

// holds reports whether the revisions of the key, or of the newest key below it, meet the guard's condition.
func (g Guard) holds(created, modified int64) bool {
	switch {
	case g.Below:
		return modified <= g.ModRevision
	case g.Held:
		return created <= g.ModRevision
	}
	return modified == g.ModRevision
}
