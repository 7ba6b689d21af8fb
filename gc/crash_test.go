package gc

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestCrashAnywhere ends the collector at each of its requests, before it is executed or right after, and starts
// another one with the remaining state: every cascade has the same result as without a crash.
func TestCrashAnywhere(t *testing.T) {
	for policy, want := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationBackground: "configmaps/a/free configmaps/a/two configmaps/a/x",
		metav1.DeletePropagationForeground: "configmaps/a/free configmaps/a/two configmaps/a/x",
		metav1.DeletePropagationOrphan:     "configmaps/a/d0 configmaps/a/d1 configmaps/a/d2 configmaps/a/free configmaps/a/leaf configmaps/a/two configmaps/a/x",
	} {
		t.Run(string(policy), func(t *testing.T) {
			const most = 30
			for n := range most {
				if crashAt(t, policy, n, want) {
					return // no request was left to crash at
				}
			}
			t.Errorf("more than %d requests", most)
		})
	}
}

// crashAt crashes before the request with number n/2 or, if n is odd, after it. It reports whether
// there were fewer requests.
func crashAt(t *testing.T, policy metav1.DeletionPropagation, n int, want string) (finished bool) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, storagetest.NewTwin())
		o, x := s.put("configmaps/a/o"), s.put("configmaps/a/x")
		for i := range 3 {
			d := s.put(fmt.Sprint("configmaps/a/d", i), ownedBy(i > 0, o))
			if i == 1 {
				s.put("configmaps/a/leaf", ownedBy(true, d))
			}
		}
		s.put("configmaps/a/two", ownedBy(true, o, x))
		s.put("configmaps/a/free")
		s.delete("configmaps/a/o", policy)
		ctx, crash := context.WithCancel(t.Context())
		defer crash()
		var requests atomic.Int32
		s.fault(func(string, Object) error {
			at := int(requests.Add(1)) - 1
			if at == n/2 && n%2 == 0 {
				crash()
			}
			return ctx.Err()
		})
		s.after = func() {
			if n%2 == 1 && int(requests.Load()) == n/2+1 {
				crash()
			}
		}
		runUntil(ctx, t, s, Config{Workers: 1})
		finished = int(requests.Load()) <= n/2
		s.fault(nil)
		s.after = nil
		s.cache = newServer(t, nil).cache
		run(t, s, Config{}, func(*Collector) { s.want(want) })
		if two := s.get("configmaps/a/two"); two == nil || len(two.OwnerReferences) != 1 ||
			two.OwnerReferences[0].UID != x.UID {
			t.Errorf("crash at %d: %v", n, two)
		}
	})
	return finished
}
