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
	// leaseMark begins the id of every lease that is granted here, which says that it is one key's. An id that
	// etcd chooses, as it does for kube-apiserver, is 15 bits of the member's id, the milliseconds since 1970
	// modulo 2^40, and 8 bits of a counter (pkg/idutil/id.go; etcdserver/v3_server.go: LeaseGrant). The mark
	// stands for one member id of 32,768 and the five hours before the milliseconds wrap around, in September
	// 2039, so by accident no other program has it. The sign stays 0, as etcd 3.4 and 3.5 forget leases with
	// negative ids when they restart.
	leaseMark = 0x6b63_ffff << leaseRandom
	// leaseRandom is how many bits of the id are random; leaseTries how many ids are tried, as one may be in use.
	leaseRandom, leaseTries = 32, 4
)

// grant makes the lease that removes a key after ttl. Each put has one of its own, though that is
// one more write: etcd removes all keys of a lease in a single revision, as kube-apiserver's
// Events expire (pkg/storage/etcd3/lease_manager.go shares leases), and a watch that ends and
// resumes there would miss some of the removals. A write that replaces or removes such a key gives its
// lease back, so there are never many more than keys that live. Of those that expire together etcd
// revokes at most 1000 a second, so keys may live on for that much longer.
func (e *Etcd) grant(ctx context.Context, ttl time.Duration) (int64, error) {
	seconds := int64((ttl + time.Second - 1) / time.Second)
	for tries := 1; ; tries++ {
		resp, err := e.rpc.LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: leaseMark | int64(rand.Uint32()), TTL: seconds})
		if err == nil {
			return resp.ID, nil
		}
		if rpctypes.Error(err) != rpctypes.ErrLeaseExist || tries == leaseTries {
			return 0, fmt.Errorf("granting a lease: %w", failure(ctx, err))
		}
	}
}

// release revokes the lease of a put that was certainly not carried out, or of a key that has another by
// now. If that fails, or the process ends before, it expires on its own. So does a lease that was not
// granted here, as other keys may hang on it: kube-apiserver puts up to 1,000 Events under one.
func (e *Etcd) release(ctx context.Context, lease int64) {
	if lease>>leaseRandom == leaseMark>>leaseRandom {
		_, _ = e.rpc.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: lease})
	}
}
