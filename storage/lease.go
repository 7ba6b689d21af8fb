package storage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

const (
	// leaseMark is the prefix of the ids of all leases that this store grants, each for one key. An id that etcd
	// chooses, as it does for kube-apiserver, is 15 bits of the member's id, the milliseconds since 1970 modulo 2^40,
	// and 8 bits of a counter (pkg/idutil/id.go; etcdserver/v3_server.go: LeaseGrant). Such an id has the prefix only
	// for one of the 32,768 values of the 15 bits, and only in the five hours before the milliseconds wrap around, in
	// September
	// 2039. So leases of other programs don't have it by accident. The sign is 0, as etcd 3.4 and 3.5 forget leases
	// with negative ids when they restart.
	leaseMark = 0x6b63_ffff << leaseRandom
	// leaseRandom is the number of random bits of an id. An id may be in use, so up to leaseTries are tried.
	leaseRandom, leaseTries = 32, 4
)

// grant grants the lease that deletes a key after ttl. Each put has a lease of its own, although that costs one more
// write: etcd deletes all keys of a lease in a single revision, and a watch that resumes in the middle of it would miss
// some of the deletions. (kube-apiserver's Events share leases: pkg/storage/etcd3/lease_manager.go.) A write that
// replaces or deletes such a key revokes its lease, so there are never many more leases than keys. etcd revokes at most
// 1000 expired leases a second, so keys may live longer.
func (e *Etcd) grant(ctx context.Context, ttl time.Duration) (int64, error) {
	seconds := int64((ttl + time.Second - 1) / time.Second)
	for tries := 1; ; tries++ {
		resp, err := e.leases.LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: leaseMark | int64(rand.Uint32()), TTL: seconds})
		if err == nil {
			return resp.ID, nil
		}
		if rpctypes.Error(err) != rpctypes.ErrLeaseExist || tries == leaseTries {
			return 0, fmt.Errorf("granting a lease: %w", e.failure(ctx, err))
		}
	}
}

// release revokes the lease of a put that was certainly not carried out, or of a value that was replaced. If that
// fails, or the process ends before, the lease expires. release does not revoke a lease of another program, as it may
// have other keys: kube-apiserver puts up to 1,000 Events under one.
func (e *Etcd) release(ctx context.Context, lease int64) {
	if lease>>leaseRandom == leaseMark>>leaseRandom {
		_, _ = e.leases.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: lease})
	}
}
