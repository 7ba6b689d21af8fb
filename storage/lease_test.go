package storage

import (
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// TestLeases: a key with a TTL has one lease, however often it is written, and none once it is gone.
func TestLeases(t *testing.T) {
	e, err := Open(t.Context(), Config{Ephemeral: true, DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	leases := func() int {
		resp, err := e.rpc.(inProcess).leases.LeaseLeases(t.Context(), &pb.LeaseLeasesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return len(resp.Leases)
	}
	const key = "/registry/events/default/e"
	var rev int64
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
