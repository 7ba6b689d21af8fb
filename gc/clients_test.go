package gc

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/storage/storagetest"
)

var seed = flag.Uint64("seed", 0, "run TestConcurrentClientsLoseNoOwnedObject with this seed only")

// TestConcurrentClientsLoseNoOwnedObject lets clients create, re-own and delete objects all at once, while requests of
// the collector fail and history is lost. No object is deleted that had a solid owner at that revision. In the end all
// owners exist, and no object waits.
func TestConcurrentClientsLoseNoOwnedObject(t *testing.T) {
	first, last := *seed, *seed
	if first == 0 {
		first, last = 1, 12
	}
	deletions := 0
	for n := first; n <= last; n++ {
		deletions += stressed(t, Config{
			Workers: 5, Timeout: time.Second, Lag: 5 * time.Second,
		}, func(t *testing.T, s *server, twin *storagetest.Twin) {
			faults := rand.New(rand.NewPCG(n, 0))
			var mu sync.Mutex // guards faults
			s.fault(func(string, Object) error {
				mu.Lock()
				fault, delay := faults.IntN(20), time.Duration(faults.IntN(15))*time.Millisecond
				mu.Unlock()
				time.Sleep(delay) // long enough for another client's write in between
				switch fault {
				case 0:
					return apierrors.NewInternalError(errors.New("no"))
				case 1:
					return errHang
				case 2:
					twin.Restart()
				}
				return nil
			})
			var clients sync.WaitGroup
			for i := range uint64(6) {
				clients.Go(func() { s.client(t.Context(), rand.New(rand.NewPCG(n, i+1))) })
			}
			clients.Wait()
			s.fault(nil)
			time.Sleep(time.Hour)
			synctest.Wait()
			s.checkRest()
		})
		if t.Failed() {
			t.Fatalf("seed %d; repeat with -seed=%d, it may take a few times", n, n)
		}
	}
	if deletions == 0 {
		t.Error("nothing was collected")
	}
}

// stressed is bubble over a store whose history is checked. It returns how often the collector
// deleted something.
func stressed(t *testing.T, c Config, f func(*testing.T, *server, *storagetest.Twin)) (deletions int) {
	synctest.Test(t, func(t *testing.T) {
		twin := storagetest.NewTwin()
		h := &history{Store: twin}
		s := newServer(t, h)
		run(t, s, c, func(*Collector) { f(t, s, twin) })
		deletions = h.check(t)
	})
	return deletions
}

func (s *server) client(ctx context.Context, r *rand.Rand) {
	for i := range 40 {
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		key := fmt.Sprint("configmaps/a/n", r.IntN(12))
		o := s.get(key)
		if o == nil {
			o = &object{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}
			o.Name, o.Namespace, o.UID = key[len("configmaps/a/"):], "a", types.UID(fmt.Sprint(key, r.Uint64()))
			if x := s.get(fmt.Sprint("configmaps/a/n", r.IntN(12))); x != nil {
				ownedBy(r.IntN(2) == 0, x)(o)
			}
			s.ignore(s.write(ctx, key, o, nil))
			continue
		}
		switch r.IntN(4) {
		case 0:
			o.Annotations = map[string]string{"n": fmt.Sprint(i)}
			s.ignore(s.write(ctx, key, o, nil))
		case 1:
			if x := s.get(fmt.Sprint("configmaps/a/n", r.IntN(12))); x != nil && x.Name != o.Name {
				ownedBy(r.IntN(2) == 0, x)(o)
				s.ignore(s.write(ctx, key, o, nil))
			}
		default:
			p := []metav1.DeletionPropagation{
				metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
			}
			s.ignore(s.remove(ctx, key, o, p[r.IntN(3)], nil))
		}
	}
}

func (s *server) ignore(err error) {
	if err != nil && !apierrors.IsConflict(err) {
		s.t.Error(err)
	}
}

// checkRest verifies that no work is left.
func (s *server) checkRest() {
	for i := range 12 {
		o := s.get(fmt.Sprint("configmaps/a/n", i))
		if o == nil {
			continue
		}
		if o.DeletionTimestamp != nil {
			s.t.Errorf("%s is still terminating: %v", o.Name, o.Finalizers)
		}
		for _, ref := range o.OwnerReferences {
			if x := s.get("configmaps/a/" + ref.Name); x == nil || x.UID != ref.UID {
				s.t.Errorf("%s still names %s", o.Name, ref.UID)
			}
		}
	}
}
