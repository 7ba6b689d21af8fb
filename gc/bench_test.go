package gc

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// BenchmarkCascade deletes an owner of 1,000 objects in an embedded etcd, and waits for the last to go.
func BenchmarkCascade(b *testing.B) {
	for _, policy := range []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	} {
		b.Run(string(policy), func(b *testing.B) {
			s := newServer(b, storagetest.Open(b))
			ctx, cancel := context.WithCancel(b.Context())
			var done sync.WaitGroup
			defer done.Wait()
			defer cancel()
			done.Go(func() { _ = s.store.Follow(ctx, s.cache.Apply) })
			done.Go(func() { _ = New(Config{API: s, Timeline: s.cache, Kinds: s}).Run(ctx) })
			const size = 1000
			for b.Loop() {
				b.StopTimer()
				o := s.put("configmaps/a/o")
				var clients sync.WaitGroup
				for c := range 32 {
					clients.Go(func() {
						for i := c; i < size; i += 32 {
							s.put(fmt.Sprint("configmaps/a/d", i), ownedBy(true, o), func(o *object) { o.UID += "" })
						}
					})
				}
				clients.Wait()
				b.StartTimer()
				start := time.Now()
				s.delete("configmaps/a/o", policy)
				s.await(b, policy)
				b.ReportMetric(size/time.Since(start).Seconds(), "objects/s")
				b.StopTimer()
				for i := range size {
					s.delete(fmt.Sprint("configmaps/a/d", i), metav1.DeletePropagationBackground)
				}
				b.StartTimer()
			}
		})
	}
}

// await returns when the cascade is over: the owner is gone, and the dependents with it or free.
func (s *server) await(b *testing.B, policy metav1.DeletionPropagation) {
	rev := int64(0)
	for {
		left := 0
		snapshot, err := s.cache.Snapshot("configmaps", 0)
		if err != nil {
			b.Fatal(err)
		}
		snapshot.Ascend("", "", func(o *storage.Object) bool {
			if policy != metav1.DeletePropagationOrphan || len(o.Meta.Owners) > 0 || o.Meta.Name == "o" {
				left++
			}
			return true
		})
		if left == 0 {
			return
		}
		rev = s.cache.Revision() + 1
		if err := s.cache.Wait(b.Context(), rev); err != nil {
			b.Fatal(err)
		}
	}
}
