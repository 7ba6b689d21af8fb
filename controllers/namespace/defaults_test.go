package namespace

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var four = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

func (s *server) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.namespaces))
}

// withDefaults is bubble for Defaults.
func withDefaults(t *testing.T, s *server, test func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Defaults(ctx, s, nil)
	}()
	synctest.Wait()
	test()
	cancel()
	<-done
}

func TestDefaultsAreMadeAndRemade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		withDefaults(t, s, func() {
			if d := cmp.Diff(four, s.names()); d != "" {
				t.Error(d)
			}
			// A terminating one is ignored (E-06) ...
			s.deleteNamespace("kube-node-lease")
			time.Sleep(time.Hour)
			ns, err := s.Get(t.Context(), "kube-node-lease")
			if err != nil || ns.DeletionTimestamp == nil {
				t.Fatalf("kube-node-lease is %v, %v", ns, err)
			}
			// ... and made again when it went (E-05).
			ns.Spec.Finalizers = nil
			if _, err := s.Finalize(t.Context(), ns); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			again, err := s.Get(t.Context(), "kube-node-lease")
			if err != nil || again.UID == ns.UID {
				t.Errorf("kube-node-lease is %v, %v", again, err)
			}
			s.create(t, "other")
			s.mu.Lock()
			s.removeNamespace("other")
			s.mu.Unlock()
			synctest.Wait()
			if d := cmp.Diff(four, s.names()); d != "" {
				t.Error(d)
			}
		})
	})
}

func TestDefaultsThatExist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		if err := EnsureDefaults(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
		before := s.rv
		if err := EnsureDefaults(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
		withDefaults(t, s, func() {
			if s.rv != before {
				t.Errorf("%d writes", s.rv-before)
			}
		})
	})
}

func TestDefaultsAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		down := errors.New("down")
		s.fail = func(r string) error {
			if r == "create default" {
				return down
			}
			return nil
		}
		if err := EnsureDefaults(t.Context(), s, nil); !errors.Is(err, down) {
			t.Errorf("error is %v", err)
		}
		withDefaults(t, s, func() {
			time.Sleep(time.Hour)
			if d := cmp.Diff(four[1:], s.names()); d != "" {
				t.Error(d)
			}
			if n := len(s.requests); n > 200 { // 5 ms doubling to 60 s, two each
				t.Errorf("%d requests", n)
			}
			s.setFail(nil)
			time.Sleep(backoff.Max)
			if d := cmp.Diff(four, s.names()); d != "" {
				t.Error(d)
			}
		})
	})
}

// A namespace that was deleted while the watch was down is created again when it continues.
func TestDefaultsAfterABrokenStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		withDefaults(t, s, func() {
			s.breakStreams()
			s.mu.Lock()
			s.removeNamespace("kube-public")
			s.mu.Unlock()
			time.Sleep(time.Second)
			if d := cmp.Diff(four, s.names()); d != "" {
				t.Error(d)
			}
		})
	})
}

// A webhook that rejects namespaces prevents neither the start, nor that they are created when it is gone.
func TestDefaultsThatAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.fail = func(r string) error {
			if r == "create kube-public" {
				return apierrors.NewInternalError(errors.New("failed calling webhook"))
			}
			return nil
		}
		if err := EnsureDefaults(t.Context(), s, nil); err != nil {
			t.Errorf("error is %v", err)
		}
		withDefaults(t, s, func() {
			s.setFail(nil)
			time.Sleep(backoff.Max)
			if d := cmp.Diff(four, s.names()); d != "" {
				t.Error(d)
			}
		})
	})
}
