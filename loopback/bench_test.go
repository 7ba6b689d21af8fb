package loopback_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/storage"
)

// BenchmarkCollector has the collector of a whole server delete the dependents of an owner, or free
// them, as quickly as it can. It reports dependents a second.
func BenchmarkCollector(b *testing.B) {
	for _, policy := range []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	} {
		b.Run(string(policy), func(b *testing.B) {
			const size = 1000
			s := apiservertest.Start(b, nil)
			collect(b, s)
			c := collectorOf(s).API
			at := func(name string) registry.Path {
				return registry.Path{Resource: c.Types().Lookup("", "v1", "configmaps"), Namespace: "default", Name: name}
			}
			create := func(name string, owners ...metav1.OwnerReference) *storage.Object {
				o, err := c.Create(
					b.Context(), at(""),
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", OwnerReferences: owners}},
				)
				if err != nil {
					b.Error(err)
				}
				return o
			}
			var took time.Duration
			for run := 0; b.Loop(); run++ {
				o := create(fmt.Sprint("o", run))
				yes := true
				ref := metav1.OwnerReference{
					APIVersion: "v1", Kind: "ConfigMap", Name: o.Meta.Name, UID: types.UID(o.Meta.UID), BlockOwnerDeletion: &yes,
				}
				var clients sync.WaitGroup
				for k := range 16 {
					clients.Go(func() {
						for i := k; i < size; i += 16 {
							create(fmt.Sprintf("d%d-%d", run, i), ref)
						}
					})
				}
				clients.Wait()
				start := time.Now()
				if _, err := c.Delete(b.Context(), at(o.Meta.Name), &metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
					b.Fatal(err)
				}
				cascaded(b, s, policy == metav1.DeletePropagationOrphan)
				took += time.Since(start)
				if policy == metav1.DeletePropagationOrphan {
					if err := c.DeleteCollection(b.Context(), at(""), &metav1.DeleteOptions{}); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N*size)/took.Seconds(), "dependents/s")
		})
	}
}

// cascaded returns when no object has an owner any more.
func cascaded(b *testing.B, s *apiservertest.Server, stay bool) {
	for {
		rev := s.Cache.Revision()
		snapshot, err := s.Cache.Snapshot("configmaps", 0)
		if err != nil {
			b.Fatal(err)
		}
		left := false
		snapshot.Ascend("", "", func(o *storage.Object) bool {
			left = len(o.Meta.Owners) > 0 || o.Meta.Deleting()
			return !left
		})
		if !left {
			return
		}
		if err := s.Cache.Wait(b.Context(), rev+1); err != nil {
			b.Fatal(err)
		}
	}
}
