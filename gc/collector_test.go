package gc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// bubble runs f beside a collector, in its own time.
func bubble(t *testing.T, c Config, f func(t *testing.T, s *server, c *Collector)) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, storagetest.NewTwin())
		run(t, s, c, func(c *Collector) { f(t, s, c) })
	})
}

func (s *server) want(names string) {
	s.t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(names, s.names()); diff != "" {
		s.t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestPolicyDecidesWhatIsLeft(t *testing.T) {
	for policy, left := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationBackground: "configmaps/a/b+ configmaps/a/free",
		metav1.DeletePropagationForeground: "configmaps/a/b+ configmaps/a/free configmaps/a/o+",
		metav1.DeletePropagationOrphan:     "configmaps/a/b configmaps/a/d configmaps/a/free configmaps/a/leaf",
	} {
		t.Run(string(policy), func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, s *server, _ *Collector) {
				o := s.put("configmaps/a/o")
				d := s.put("configmaps/a/d", ownedBy(false, o))
				s.put("configmaps/a/leaf", ownedBy(false, d))
				s.put("configmaps/a/b", ownedBy(true, o), held)
				s.put("configmaps/a/free")
				s.delete("configmaps/a/o", policy)
				s.want(left)
			})
		})
	}
}

// TestWorkersLimitConcurrentRequests counts requests under way together.
func TestWorkersLimitConcurrentRequests(t *testing.T) {
	bubble(t, Config{Workers: 3}, func(t *testing.T, s *server, _ *Collector) {
		var now, most atomic.Int32
		s.fault(func(string, Object) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Millisecond)
			now.Add(-1)
			return nil
		})
		o := s.put("configmaps/a/o")
		for i := range 20 {
			s.put(fmt.Sprint("configmaps/a/d", i), ownedBy(false, o))
		}
		s.delete("configmaps/a/o", metav1.DeletePropagationBackground)
		time.Sleep(time.Second)
		s.want("")
		if most.Load() != 3 {
			t.Errorf("%d requests at once", most.Load())
		}
	})
}

// TestStartFindsWhatWasLeftOver: a collector finds the work that was left while none ran.
func TestStartFindsWhatWasLeftOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, storagetest.NewTwin())
		gone := &object{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Name: "gone", UID: "gone"},
		}
		s.put("configmaps/a/left", ownedBy(false, gone))
		lets := s.put("configmaps/a/lets")
		s.put("configmaps/a/kept", ownedBy(true, lets))
		waits := s.put("configmaps/a/waits")
		s.put("configmaps/a/blocks", ownedBy(true, waits))
		s.delete("configmaps/a/lets", metav1.DeletePropagationOrphan)
		s.delete("configmaps/a/waits", metav1.DeletePropagationForeground)
		// No API objects: an allocation range has no uid, and one value is no JSON at all.
		for key, value := range map[string]string{
			"ranges/serviceips": `{"kind":"RangeAllocation","apiVersion":"v1"}`, "configmaps/a/broken": `{`,
		} {
			if _, err := s.store.Commit(
				t.Context(), storage.Txn{Key: storage.DefaultRoot + "/" + key, Value: []byte(value)}); err != nil {
				t.Fatal(err)
			}
		}
		run(t, s, Config{}, func(*Collector) {
			for key, there := range map[string]bool{
				"left": false, "lets": false, "kept": true, "waits": false, "blocks": false,
			} {
				if got := s.get("configmaps/a/" + key); (got != nil) != there {
					t.Errorf("%s: %v", key, got)
				}
			}
		})
	})
}

// TestDependentThatGetsSolidOwnerIsNotDeleted gives a dependent a solid owner after the decision and before the
// deletion, by an update of it, and by creating an owner where there was none.
func TestDependentThatGetsSolidOwnerIsNotDeleted(t *testing.T) {
	t.Run("dependent changes", func(t *testing.T) {
		bubble(t, Config{}, func(t *testing.T, s *server, _ *Collector) {
			o, x := s.put("configmaps/a/o"), s.put("configmaps/a/x")
			s.put("configmaps/a/d", ownedBy(false, o))
			var once sync.Once
			s.fault(func(verb string, r Object) error {
				once.Do(func() { s.put("configmaps/a/d", ownedBy(false, x)) })
				return nil
			})
			s.delete("configmaps/a/o", metav1.DeletePropagationBackground)
			time.Sleep(time.Second)
			s.want("configmaps/a/d configmaps/a/x")
			if d := s.get("configmaps/a/d"); len(d.OwnerReferences) != 1 || d.OwnerReferences[0].UID != x.UID {
				t.Errorf("owners: %v", d.OwnerReferences)
			}
		})
	})
	t.Run("owner comes back", func(t *testing.T) {
		bubble(t, Config{}, func(t *testing.T, s *server, _ *Collector) {
			o := s.put("configmaps/a/o")
			s.put("configmaps/a/d", ownedBy(false, o))
			var once sync.Once
			s.fault(func(string, Object) error {
				once.Do(func() { s.put("configmaps/a/o") }) // as from a backup, with the same uid
				return nil
			})
			s.delete("configmaps/a/o", metav1.DeletePropagationBackground)
			s.want("configmaps/a/d configmaps/a/o")
		})
	})
}

// TestFailingObjectDelaysNoOther lets an object fail a dozen times: the waits double, and no other object waits.
func TestFailingObjectDelaysNoOther(t *testing.T) {
	const failures = 22
	bubble(t, Config{}, func(t *testing.T, s *server, _ *Collector) {
		var n atomic.Int32
		s.fault(func(_ string, r Object) error {
			if r.Name == "stuck" && n.Add(1) <= failures {
				return apierrors.NewInternalError(errors.New("no"))
			}
			return nil
		})
		o := s.put("configmaps/a/o")
		s.put("configmaps/a/stuck", ownedBy(false, o))
		s.put("configmaps/a/d", ownedBy(false, o))
		s.delete("configmaps/a/o", metav1.DeletePropagationBackground)
		s.want("configmaps/a/stuck")
		time.Sleep(3 * time.Hour)
		s.want("")
		at := s.called("delete", "stuck")
		if len(at) != failures+1 {
			t.Fatalf("%d attempts", len(at))
		}
		for i := range failures {
			want := min(5*time.Millisecond<<i, 1000*time.Second)
			if got := at[i+1].Sub(at[i]); got < want || got > want*5/4 {
				t.Errorf("after failure %d: %v, want %v and up to a quarter more", i+1, got, want)
			}
		}
	})
}

// TestHangingRequestEndsAtItsDeadline: a request without a response ends at its deadline and delays no other.
func TestHangingRequestEndsAtItsDeadline(t *testing.T) {
	bubble(t, Config{Timeout: 10 * time.Second}, func(t *testing.T, s *server, _ *Collector) {
		var once sync.Once
		s.fault(func(_ string, r Object) (err error) {
			if r.Name == "stuck" {
				once.Do(func() { err = errHang })
			}
			return err
		})
		o := s.put("configmaps/a/o")
		s.put("configmaps/a/stuck", ownedBy(true, o))
		s.put("configmaps/a/d", ownedBy(true, o))
		s.delete("configmaps/a/o", metav1.DeletePropagationForeground)
		s.want("configmaps/a/o+ configmaps/a/stuck")
		time.Sleep(11 * time.Second)
		s.want("")
	})
}

// TestSlowObjectLeavesWorkerToOthers has requests for one object that always time out. They must leave the only worker
// to others, and the log must name the object.
func TestSlowObjectLeavesWorkerToOthers(t *testing.T) {
	const timeout = 10 * time.Second
	var log strings.Builder
	c := Config{Timeout: timeout, Workers: 1, Log: slog.New(slog.NewTextHandler(&log, nil))}
	bubble(t, c, func(t *testing.T, s *server, _ *Collector) {
		s.fault(func(_ string, r Object) error {
			if r.Name == "stuck" {
				return errHang
			}
			return nil
		})
		o := s.put("configmaps/a/o")
		s.put("configmaps/a/stuck", ownedBy(false, o))
		s.delete("configmaps/a/o", metav1.DeletePropagationBackground)
		time.Sleep(time.Hour)
		synctest.Wait()
		at := s.called("delete", "stuck")
		if busy := time.Duration(len(at)) * timeout; busy > 5*time.Minute {
			t.Errorf("%d attempts in an hour: the worker was busy for %v", len(at), busy)
		}
		if !strings.Contains(log.String(), "retries an object later") ||
			!strings.Contains(log.String(), "configmaps/a/stuck") {
			t.Errorf("log does not name the object:\n%s", log.String())
		}
	})
}

// TestRunReturnsWhileRequestsHang ends while requests hang; run fails if Run doesn't return, and the bubble if a worker
// stays.
func TestRunReturnsWhileRequestsHang(t *testing.T) {
	bubble(t, Config{Timeout: time.Hour}, func(t *testing.T, s *server, c *Collector) {
		s.fault(func(string, Object) error { return errHang })
		o := s.put("configmaps/a/o")
		for i := range 100 {
			s.put(fmt.Sprint("configmaps/a/d", i), ownedBy(true, o))
		}
		s.delete("configmaps/a/o", metav1.DeletePropagationBackground)
		synctest.Wait()
	})
}

// TestRequestWithLostEffectIsRepeated has requests that are answered and not carried out.
func TestRequestWithLostEffectIsRepeated(t *testing.T) {
	bubble(t, Config{Lag: 7 * time.Second}, func(t *testing.T, s *server, _ *Collector) {
		var once sync.Once
		s.fault(func(string, Object) (err error) {
			once.Do(func() { err = apierrors.NewNotFound(resource("configmaps"), "d") })
			return err
		})
		o := s.put("configmaps/a/o")
		s.put("configmaps/a/d", ownedBy(true, o))
		s.delete("configmaps/a/o", metav1.DeletePropagationBackground)
		s.want("configmaps/a/d")
		time.Sleep(15 * time.Second)
		s.want("")
	})
}

// TestExpiredHistoryIsReadAgain loses history, with requests under way and retries waiting.
func TestExpiredHistoryIsReadAgain(t *testing.T) {
	registry := prometheus.NewRegistry()
	bubble(t, Config{Registerer: registry, Timeout: time.Second}, func(t *testing.T, s *server, _ *Collector) {
		s.fault(func(_ string, r Object) error {
			if r.Name == "hangs" {
				return errHang
			}
			return apierrors.NewInternalError(errors.New("no"))
		})
		o := s.put("configmaps/a/o")
		for _, name := range []string{"hangs", "fails"} {
			s.put("configmaps/a/"+name, ownedBy(true, o))
		}
		s.delete("configmaps/a/o", metav1.DeletePropagationBackground)
		synctest.Wait()
		s.store.(*storagetest.Twin).Restart()
		time.Sleep(500 * time.Millisecond)
		s.fault(nil)
		time.Sleep(time.Minute)
		s.want("")
		p := s.put("configmaps/a/p")
		s.put("configmaps/a/q", ownedBy(true, p))
		s.delete("configmaps/a/p", metav1.DeletePropagationForeground)
		s.want("")
	})
	if got := metric(t, registry, "garbagecollector_controller_resources_sync_error_total", ""); got != 1 {
		t.Errorf("%v sync errors", got)
	}
}

func TestKindsChange(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server, _ *Collector) {
		odd := &object{
			TypeMeta: metav1.TypeMeta{APIVersion: "odd.io/v1", Kind: "Odd"}, ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "x"},
		}
		s.put("configmaps/a/d", ownedBy(false, odd))
		time.Sleep(time.Hour)
		s.want("configmaps/a/d")
		s.serve(append(builtins[:len(builtins):len(builtins)],
			graph.Kind{APIVersion: "odd.io/v1", Kind: "Odd", Collection: "odd.io/odds", Namespaced: true}))
		s.want("")
		if n := len(s.called("delete", "d")); n != 1 {
			t.Errorf("%d attempts", n)
		}
	})
}

// TestGuardsAreOfTheNewestOwnersFirst has more owners than a transaction compares keys.
func TestGuardsAreOfTheNewestOwnersFirst(t *testing.T) {
	x := newExecutor(Config{}.withDefaults(), nil)
	var from []graph.Guard
	for i := range 200 {
		g := graph.Guard{Key: graph.Key{Collection: "pods", Namespace: "a", Name: fmt.Sprint(i)}}
		if i >= 150 {
			g.Revision = int64(i)
		}
		if i < 10 {
			g.Revision, g.Held = int64(1000+i), true
		}
		from = append(from, g)
	}
	got := x.guards(from)
	if len(got) != maxGuards || got[0] != (storage.Guard{Key: "/registry/pods/a/199", ModRevision: 199}) ||
		got[49].ModRevision != 150 || got[50] != (storage.Guard{Key: "/registry/pods/a/0", ModRevision: 1000, Held: true}) ||
		got[60] != (storage.Guard{Key: "/registry/pods/a/10"}) {
		t.Errorf("got %v", got)
	}
	if got := x.guards(from[:2]); len(got) != 2 || got[1].Key != "/registry/pods/a/1" {
		t.Errorf("got %v", got)
	}
}

func TestOutcomesOfErrors(t *testing.T) {
	gr := resource("pods")
	uid := apierrors.NewInvalid(
		graphKind, "p", field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), "b", "field is immutable")})
	other := apierrors.NewInvalid(graphKind, "p", field.ErrorList{field.Invalid(field.NewPath("spec"), "b", "no")})
	for _, c := range []struct {
		action graph.Action
		err    error
		want   graph.Outcome
	}{
		{graph.Delete{}, nil, graph.Done},
		{graph.Delete{}, apierrors.NewNotFound(gr, "p"), graph.Missing},
		{graph.Delete{}, fmt.Errorf("deleting: %w", apierrors.NewNotFound(gr, "p")), graph.Missing},
		{graph.Delete{}, apierrors.NewConflict(gr, "p", errors.New("x")), graph.Conflict},
		{graph.Delete{}, uid, graph.Failed},
		{graph.RemoveOwners{}, uid, graph.Missing},
		{graph.Unblock{}, uid, graph.Missing},
		{graph.RemoveOwners{}, other, graph.Failed},
		{graph.RemoveFinalizer{}, apierrors.NewForbidden(gr, "p", errors.New("x")), graph.Failed},
		{graph.Delete{}, context.DeadlineExceeded, graph.Failed},
	} {
		if got := outcomeOf(c.action, c.err); got != c.want {
			t.Errorf("%T, %v: got %s, want %s", c.action, c.err, got, c.want)
		}
	}
}
