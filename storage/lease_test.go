package storage

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// openWithLeases opens an embedded store and returns a count of its leases.
func openWithLeases(t *testing.T) (*Etcd, func() int) {
	e, err := Open(t.Context(), Config{Ephemeral: true, DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, func() int {
		resp, err := e.leases.LeaseLeases(t.Context(), &pb.LeaseLeasesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return len(resp.Leases)
	}
}

// TestKeyHasAtMostOneLease: a key with a TTL has one lease, however often it is written, and none once it is gone.
func TestKeyHasAtMostOneLease(t *testing.T) {
	e, leases := openWithLeases(t)
	const key = "/registry/events/default/e"
	var rev int64
	var err error
	for range 5 {
		if rev, err = e.Commit(t.Context(), Txn{Key: key, Expect: rev, Value: []byte("{}"), TTL: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if n := leases(); n != 1 {
			t.Fatalf("%d leases for one key", n)
		}
	}
	if _, err := e.Commit(t.Context(), Txn{Key: key, Expect: rev, TTL: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if n := leases(); n != 0 {
		t.Errorf("%d leases for no key", n)
	}
}

// TestSharedLease replaces and removes two of ten keys that another program has put under one lease, as
// kube-apiserver does with Events, and sees that the others stay.
func TestSharedLease(t *testing.T) {
	e, leases := openWithLeases(t)
	lease, err := e.leases.LeaseGrant(t.Context(), &pb.LeaseGrantRequest{TTL: 3600}) // etcd chooses the id
	if err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return fmt.Sprintf("/registry/events/default/e%d", i) }
	revs := make([]int64, 10)
	for i := range revs {
		resp, err := e.client.Put(t.Context(), name(i), "{}", clientv3.WithLease(clientv3.LeaseID(lease.ID)))
		if err != nil {
			t.Fatal(err)
		}
		revs[i] = resp.Header.Revision
	}
	for i, value := range [][]byte{[]byte("{2}"), nil} {
		txn := Txn{Key: name(i), Expect: revs[i], Value: value, TTL: time.Hour}
		if _, err := e.Commit(t.Context(), txn); err != nil {
			t.Fatal(err)
		}
	}
	p, err := e.List(t.Context(), Range{Prefix: "/registry/events/"})
	if err != nil || len(p.Records) != 9 {
		t.Errorf("of 10 Events, one of them removed, %d are left: %v", len(p.Records), err)
	}
	if n := leases(); n != 2 {
		t.Errorf("%d leases, want the shared one and ours", n)
	}
}

// taken grants leases like an etcd where the first ids are in use.
type taken struct {
	pb.LeaseClient
	left int
	ids  []int64
}

func (k *taken) LeaseGrant(
	_ context.Context, q *pb.LeaseGrantRequest, _ ...grpc.CallOption) (*pb.LeaseGrantResponse, error) {
	k.ids = append(k.ids, q.ID)
	if k.left--; k.left >= 0 {
		return nil, rpctypes.ErrGRPCLeaseExist
	}
	return &pb.LeaseGrantResponse{ID: q.ID, TTL: q.TTL}, nil
}

// TestLeaseIDInUseIsNotShared: if an id is in use, another one is tried, but not forever.
func TestLeaseIDInUseIsNotShared(t *testing.T) {
	for inUse, want := range map[int]error{0: nil, leaseTries - 1: nil, leaseTries: ErrUnavailable} {
		k := &taken{left: inUse}
		id, err := (&Etcd{leases: k, life: t.Context()}).grant(t.Context(), time.Second)
		if !errors.Is(err, want) || (err == nil) != (id == k.ids[len(k.ids)-1]) {
			t.Errorf("%d ids in use: lease %x after %x: %v", inUse, id, k.ids, err)
		}
		for i, id := range k.ids {
			if id <= 0 || id>>32 != 0x6b63ffff || i > 0 && id == k.ids[0] {
				t.Errorf("id %x", id)
			}
		}
	}
}
