package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/client/pkg/v3/transport"

	"github.com/kubecascade/kubecascade/storage"
)

// TestFollowerMissesNothingInPartition cuts the store off from etcd, and delays requests in flight, while writers
// write. No call takes longer than its context, those that fail are ErrUnavailable, and a follower misses nothing.
func TestFollowerMissesNothingInPartition(t *testing.T) {
	t.Parallel()
	c := startCluster(t, transport.TLSInfo{})
	p := newProxy(t, c.config.ListenClientUrls[0].Path)
	e := OpenConfig(t, storage.Config{Endpoints: []string{p.endpoint()}})
	l := Watch(t, e)
	l.WaitForReset(1)
	var stop atomic.Bool
	var written, failed atomic.Int64
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; !stop.Load(); i++ {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				_, err := e.Commit(ctx, storage.Txn{Key: key(fmt.Sprint(w, "-", i)), Value: []byte("x")})
				cancel()
				switch took := time.Since(began); {
				case err == nil:
					written.Add(1)
				case !errors.Is(err, storage.ErrUnavailable):
					t.Errorf("committing: %v", err)
				case took > 5*time.Second: // on a busy machine
					t.Errorf("a commit took %v", took)
				default:
					failed.Add(1)
				}
			}
		})
	}
	more := func(n *atomic.Int64) {
		for began := n.Load(); n.Load() < began+5; time.Sleep(time.Millisecond) {
		}
	}
	for _, part := range []func(){p.cut, p.stall, p.cut} {
		more(&written)
		part()
		more(&failed)
		p.heal()
	}
	more(&written)
	stop.Store(true)
	writers.Wait()
	list, err := e.List(t.Context(), storage.Range{Prefix: "/registry/"})
	if err != nil {
		t.Fatal(err)
	}
	l.WaitFor(list.Revision)
	if diff := cmp.Diff(list.Records, l.State()); diff != "" || int64(len(list.Records)) < written.Load() {
		t.Errorf("%d records of %d acknowledged (-store +follower):\n%s", len(list.Records), written.Load(), diff)
	}
}
