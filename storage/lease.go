package storage

import (
	"context"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// grant makes the lease that removes a key after ttl. Each put has one of its own, though that is
// one more write: etcd removes all keys of a lease in a single revision, as kube-apiserver's
// Events expire (pkg/storage/etcd3/lease_manager.go shares leases), and a watch that ends and
// resumes there would miss some of the removals. A write that replaces or removes such a key gives its
// lease back, so there are never many more than keys that live. Of those that expire together etcd
// revokes at most 1000 a second, so keys may live on for that much longer.
func (e *Etcd) grant(ctx context.Context, ttl time.Duration) (int64, error) {
	seconds := int64((ttl + time.Second - 1) / time.Second)
	resp, err := e.rpc.LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: seconds})
	if err != nil {
		return 0, fmt.Errorf("granting a lease: %w", failure(ctx, err))
	}
	return resp.ID, nil
}

// release gives back the lease of a put that was certainly not carried out, or of a key that has
// another by now. If that fails, or the process ends before, it expires on its own.
func (e *Etcd) release(ctx context.Context, lease int64) {
	_, _ = e.rpc.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: lease})
}
