package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Exclusive is the store for one caller, while no other request is carried out.
type Exclusive struct {
	e *Etcd

	mu sync.Mutex // guards leases
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
	// sending is how many transactions are sent at a time: etcd receives one while it carries another one out.
	sending = 4
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
		if !e.closed {
			e.work.Go(x.release)
		}
	}
	return err
}

// run calls f with the lock.
func (x *Exclusive) run(f func(*Exclusive) error) error {
	x.e.mu.Lock()
	defer x.e.mu.Unlock()
	if x.e.closed || x.e.life.Err() != nil {
		return fmt.Errorf("%w: closed", ErrUnavailable)
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

// Write carries out all writes, without conditions, after Begin. Each transaction has many of them, so their revisions
// are shared. No key may be there twice. Values that expire do so after ttl, at the same time. It returns the revision
// of the last transaction, which exceeds those of all writes. The error is ErrNoSpace if nothing was written; after any
// other a part may have been.
func (x *Exclusive) Write(writes []Write, ttl time.Duration) (int64, error) {
	e := x.e
	bytes, expires := 0, false
	for _, w := range writes {
		if w.Value != nil {
			bytes += len(w.Key) + len(w.Value)
			expires = expires || w.Expires
		}
	}
	if err := e.local.Admit(bytes, true); err != nil {
		_, end := x.send([]Write{{Key: e.root + writeKey}}, 0)
		return 0, errors.Join(err, end)
	}
	var lease int64
	if expires {
		// etcd chooses the id, so it is never revoked for one of its keys: see release.
		resp, err := e.rpc.LeaseGrant(e.life, &pb.LeaseGrantRequest{TTL: int64((ttl + time.Second - 1) / time.Second)})
		if err != nil {
			return 0, fmt.Errorf("granting a lease: %w", failure(e.life, err))
		}
		lease = resp.ID
	}
	if err := x.sendAll(writes, lease); err != nil {
		return 0, err
	}
	return x.send([]Write{{Key: e.root + writeKey}}, 0)
}

// sendAll sends the writes in parts, in no order.
func (x *Exclusive) sendAll(writes []Write, lease int64) error {
	parts := make(chan []Write)
	errs := make([]error, sending)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for part := range parts {
				_, err := x.send(part, lease)
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	for len(writes) > 0 {
		n, size := 0, 0
		for ; n < min(len(writes), mostWrites); n++ {
			if size += len(writes[n].Key) + len(writes[n].Value); n > 0 && size > mostWritten {
				break
			}
		}
		parts <- writes[:n]
		writes = writes[n:]
	}
	close(parts)
	all.Wait()
	return errors.Join(errs...)
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
	x.mu.Lock()
	defer x.mu.Unlock()
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
