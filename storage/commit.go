package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Commit implements Store. It is one etcd transaction. etcd writes concurrent transactions to the disk together, so
// many should be in flight at a time.
func (e *Etcd) Commit(ctx context.Context, t Txn) (int64, error) {
	if err := e.writable(); err != nil {
		return 0, err
	}
	if err := e.beginRequest(ctx); err != nil {
		return 0, err
	}
	defer e.endRequest()
	if e.local != nil && t.Value != nil {
		if err := e.local.Admit(len(t.Key)+len(t.Value), t.Expect > 0); err != nil {
			return 0, e.rejection(ctx, t, fmt.Errorf("committing %s: %w", t.Key, err))
		}
	}
	var lease int64
	if t.TTL > 0 && t.Value != nil {
		var err error
		if lease, err = e.grant(ctx, t.TTL); err != nil {
			return 0, fmt.Errorf("committing %s: %w", t.Key, err)
		}
	}
	rev, err := e.send(ctx, t, lease)
	if err != nil && lease != 0 && !errors.Is(err, ErrUnavailable) {
		e.release(ctx, lease)
	}
	return rev, err
}

// send carries out the transaction.
func (e *Etcd) send(ctx context.Context, t Txn, lease int64) (int64, error) {
	resp, err := e.rpc.Txn(ctx, request(t, lease))
	if err != nil {
		err = failure(ctx, err)
		if errors.Is(err, ErrNoSpace) && t.Value != nil {
			return e.settle(ctx, t, err)
		}
		return 0, fmt.Errorf("committing %s: %w", t.Key, err)
	}
	if !resp.Succeeded {
		return 0, conflict(t, resp)
	}
	e.release(ctx, replacedLease(resp.Responses[0]))
	return resp.Header.Revision, nil
}

// replacedLease is the lease of the value that a write has replaced or deleted; 0 for none, and if PrevKv was not set.
func replacedLease(op *pb.ResponseOp) int64 {
	if put := op.GetResponsePut(); put != nil {
		return put.GetPrevKv().GetLease()
	}
	if kvs := op.GetResponseDeleteRange().GetPrevKvs(); len(kvs) > 0 {
		return kvs[0].Lease
	}
	return 0
}

// settle finds out whether a put that exceeded an external cluster's quota was carried out. etcd answers "no space"
// before it proposes a write, but also after it has applied one and others took the space meanwhile.
func (e *Etcd) settle(ctx context.Context, t Txn, cause error) (int64, error) {
	err := e.rejection(ctx, t, fmt.Errorf("committing %s: %w", t.Key, cause))
	var lost *ConflictError
	if errors.As(err, &lost) && lost.Current.ModRevision > t.Expect && bytes.Equal(lost.Current.Value, t.Value) {
		return lost.Current.ModRevision, nil
	}
	return 0, err
}

// rejection is the error of a put that there is no space for: the conflict if a condition doesn't hold, else cause.
func (e *Etcd) rejection(ctx context.Context, t Txn, cause error) error {
	q := request(t, 0)
	q.Success = nil
	resp, err := e.rpc.Txn(ctx, q)
	if err != nil {
		return fmt.Errorf("committing %s: %w", t.Key, failure(ctx, err))
	}
	if !resp.Succeeded {
		return conflict(t, resp)
	}
	return cause
}

// request builds the transaction. If the key and all guards meet their conditions, it does the write; otherwise it
// reads them, so that a conflict is reported with the present record.
func request(t Txn, lease int64) *pb.TxnRequest {
	key := []byte(t.Key)
	q := &pb.TxnRequest{
		Compare: make([]*pb.Compare, 0, 1+len(t.Guards)),
		Failure: make([]*pb.RequestOp, 0, 1+len(t.Guards)),
	}
	check := func(c *pb.Compare, read *pb.RangeRequest) {
		c.Key, c.RangeEnd = read.Key, read.RangeEnd
		q.Compare = append(q.Compare, c)
		q.Failure = append(q.Failure, &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: read}})
	}
	check(is(pb.Compare_EQUAL, t.Expect), &pb.RangeRequest{Key: key})
	for _, g := range t.Guards {
		switch {
		case g.Below:
			check(is(pb.Compare_LESS, g.ModRevision+1), &pb.RangeRequest{
				Key: []byte(g.Key), RangeEnd: []byte(clientv3.GetPrefixRangeEnd(g.Key)), KeysOnly: true, Limit: 1,
				SortTarget: pb.RangeRequest_MOD, SortOrder: pb.RangeRequest_DESCEND,
			})
		case g.Held: // the create revision of an absent key is 0
			check(createdBefore(g.ModRevision+1), &pb.RangeRequest{Key: []byte(g.Key), KeysOnly: true})
		default:
			check(is(pb.Compare_EQUAL, g.ModRevision), &pb.RangeRequest{Key: []byte(g.Key), KeysOnly: true})
		}
	}
	op := &pb.RequestOp{}
	leased := t.TTL > 0 && t.Expect > 0 // the present value has a lease of its own
	if t.Value != nil {
		op.Request = &pb.RequestOp_RequestPut{
			RequestPut: &pb.PutRequest{Key: key, Value: t.Value, Lease: lease, PrevKv: leased},
		}
	} else {
		op.Request = &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: key, PrevKv: leased}}
	}
	q.Success = []*pb.RequestOp{op}
	return q
}

// is compares a mod revision.
func is(result pb.Compare_CompareResult, rev int64) *pb.Compare {
	return &pb.Compare{Result: result, Target: pb.Compare_MOD, TargetUnion: &pb.Compare_ModRevision{ModRevision: rev}}
}

// createdBefore compares a key's create revision.
func createdBefore(rev int64) *pb.Compare {
	return &pb.Compare{
		Result: pb.Compare_LESS, Target: pb.Compare_CREATE, TargetUnion: &pb.Compare_CreateRevision{CreateRevision: rev},
	}
}

// conflict reads from the else branch which condition did not hold.
func conflict(t Txn, resp *pb.TxnResponse) *ConflictError {
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

// holds reports whether the guard holds if the key, or the newest one below it, has these revisions.
func (g Guard) holds(created, modified int64) bool {
	switch {
	case g.Below:
		return modified <= g.ModRevision
	case g.Held:
		return created <= g.ModRevision
	}
	return modified == g.ModRevision
}
