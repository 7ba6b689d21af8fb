package storage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Exclusive is the store for one caller, while no other request is carried out.
type Exclusive struct {
	e *Etcd

	// leases are those of values that were replaced or deleted.
	leases []int64
}

// Write is one write of Exclusive.Write.
type Write struct {
	Key string
	// Value is the new value; nil deletes the key.
	Value []byte
	// Expires says that the key's values have a time to live.
	Expires bool
}

const (
	// writeKey is a key below the root that names no collection. It exists while Exclusive.Write writes.
	writeKey = "/rollback"
	// mostWrites is the maximum number of operations of an etcd transaction (embed.DefaultMaxTxnOps), and mostWritten the
	// maximum number of bytes of several: one value alone may have as many as etcd takes.
	mostWrites, mostWritten = 128, 256 << 10
)

// Exclude calls f when the requests in flight have ended. Others wait until f has returned, whatever their contexts
// say. Only an embedded etcd can exclude others: the error is ErrShared for an external cluster, ErrReadOnly or
// ErrUnavailable, or f's.
func (e *Etcd) Exclude(f func(*Exclusive) error) error {
	if err := e.writable(); err != nil {
		return err
	}
	if e.local == nil {
		return ErrShared
	}
	x := &Exclusive{e: e}
	err := x.run(f)
	if len(x.leases) > 0 { // each is a request, and none matters: a lease without keys expires
		e.mu.RLock()
		defer e.mu.RUnlock()
		if e.life.Err() == nil {
			e.work.Go(x.release)
		}
	}
	return err
}

// run calls f with the lock.
func (x *Exclusive) run(f func(*Exclusive) error) error {
	x.e.mu.Lock()
	defer x.e.mu.Unlock()
	if x.e.life.Err() != nil {
		return context.Cause(x.e.life)
	}
	return f(x)
}

// release revokes the leases.
func (x *Exclusive) release() {
	for _, lease := range x.leases {
		if x.e.life.Err() != nil {
			return
		}
		x.e.release(x.e.life, lease)
	}
}

// Begin returns a revision after every write that can still be carried out of those that failed with ErrUnavailable:
// etcd carries out what it was sent in order. Followers reach it by an event.
func (x *Exclusive) Begin() (int64, error) {
	return x.send([]Write{{Key: x.e.root + writeKey, Value: []byte("{}")}}, 0)
}

// Write carries out all writes, without conditions, after Begin; it ends at the first error that the sequence yields.
// Each transaction has many of them, so their revisions are shared. No key may occur twice. bytes is at least the size
// of all keys and values. Values that expire do so after ttl, at the same time. Write returns the revision of the last
// transaction, which exceeds those of all writes. The error is ErrNoSpace if nothing was written; after any other error
// a part may have been written.
func (x *Exclusive) Write(writes iter.Seq2[Write, error], bytes int, ttl time.Duration) (int64, error) {
	e := x.e
	if err := e.local.Admit(bytes, true); err != nil {
		_, end := x.send([]Write{{Key: e.root + writeKey}}, 0)
		return 0, errors.Join(err, end)
	}
	var part []Write
	size, lease := 0, int64(0)
	for w, err := range writes {
		if err == nil && w.Expires && w.Value != nil && lease == 0 { // one lease is enough for all that expires
			lease, err = x.grant(ttl)
		}
		if n := len(w.Key) + len(w.Value); err == nil && len(part) > 0 && (len(part) == mostWrites || size+n > mostWritten) {
			_, err = x.send(part, lease)
			part, size = nil, 0
		}
		if err != nil {
			return 0, err
		}
		part, size = append(part, w), size+len(w.Key)+len(w.Value)
	}
	if len(part) > 0 {
		if _, err := x.send(part, lease); err != nil {
			return 0, err
		}
	}
	return x.send([]Write{{Key: e.root + writeKey}}, 0)
}

// grant returns a new lease. etcd chooses the id, so it is never revoked for one of its keys: see release.
func (x *Exclusive) grant(ttl time.Duration) (int64, error) {
	e := x.e
	resp, err := e.rpc.LeaseGrant(e.life, &pb.LeaseGrantRequest{TTL: int64((ttl + time.Second - 1) / time.Second)})
	if err != nil {
		return 0, fmt.Errorf("granting a lease: %w", failure(e.life, err))
	}
	return resp.ID, nil
}

// send carries out one transaction.
func (x *Exclusive) send(writes []Write, lease int64) (int64, error) {
	q := &pb.TxnRequest{Success: make([]*pb.RequestOp, len(writes))}
	for i, w := range writes {
		op := &pb.RequestOp{}
		if w.Value != nil {
			put := &pb.PutRequest{Key: []byte(w.Key), Value: w.Value, PrevKv: w.Expires}
			if w.Expires {
				put.Lease = lease
			}
			op.Request = &pb.RequestOp_RequestPut{RequestPut: put}
		} else {
			op.Request = &pb.RequestOp_RequestDeleteRange{
				RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte(w.Key), PrevKv: w.Expires},
			}
		}
		q.Success[i] = op
	}
	resp, err := x.e.rpc.Txn(x.e.life, q)
	if err != nil {
		return 0, fmt.Errorf("writing %d keys: %w", len(writes), failure(x.e.life, err))
	}
	for i, w := range writes {
		if lease := replacedLease(resp.Responses[i]); w.Expires && lease != 0 {
			x.leases = append(x.leases, lease)
		}
	}
	return resp.Header.Revision, nil
}

// Forget makes reads at earlier revisions fail with ErrCompacted.
func (x *Exclusive) Forget(rev int64) { x.e.floor.Store(rev) }

// Life is done when the store is being closed.
func (x *Exclusive) Life() context.Context { return x.e.life }
