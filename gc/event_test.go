package gc

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestEventsEqualRecordedOnes compares the Events with those of a real server (reference: gc-namespaces; D-80 to D-84).
func TestEventsEqualRecordedOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, storagetest.NewTwin())
		start := metav1.Now()
		run(t, s, Config{}, func(*Collector) {
			far := s.put("configmaps/b/far")
			s.put("configmaps/a/cross", ownedBy(false, far), held)
			s.put("persistentvolumes/pv", ownedBy(false, far))
			synctest.Wait()
			time.Sleep(time.Minute)
			// The same reference is added again, and counted on the same Event.
			s.put("configmaps/a/cross", func(o *object) { o.OwnerReferences = nil })
			s.put("configmaps/a/cross", ownedBy(true, far))
			synctest.Wait()
			time.Sleep(time.Minute)
		})
		// After a restart it is reported again, and counted on the same Events.
		s.cache = newServer(t, nil).cache
		run(t, s, Config{}, func(*Collector) {})

		event := func(name, called, namespace, in string, count int32, last time.Duration) corev1.Event {
			e := corev1.Event{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
				ObjectMeta: metav1.ObjectMeta{Name: called, Namespace: in},
				Reason:     "OwnerRefInvalidNamespace", Type: "Warning",
				Message: fmt.Sprintf(
					"ownerRef [v1/ConfigMap, namespace: %s, name: far, uid: uid-far] does not exist in namespace %q", namespace,
					namespace),
				Source:              corev1.EventSource{Component: "garbage-collector-controller"},
				ReportingController: "garbage-collector-controller",
				FirstTimestamp:      start, LastTimestamp: metav1.NewTime(start.Add(last)), Count: count,
			}
			e.InvolvedObject = corev1.ObjectReference{
				Kind: "ConfigMap", APIVersion: "v1", Namespace: namespace, Name: name, UID: "uid-cross",
			}
			if namespace == "" {
				e.InvolvedObject.Kind, e.InvolvedObject.UID = "PersistentVolume", "uid-pv"
			}
			return e
		}
		want := []corev1.Event{
			event("cross", "cross.7aa0fb2c8d950bdb", "a", "a", 3, 2*time.Minute),
			event("pv", "pv.1893e6d18af5181d", "", "default", 2, 2*time.Minute), // J-19
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if diff := cmp.Diff(want, s.events); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	})
}

// TestEventNames has object names that would make invalid Event names.
func TestEventNames(t *testing.T) {
	for _, name := range []string{"a", "system:a", strings.Repeat("a", 253)} {
		e := newEvent(foreign(graph.Report{Object: graph.Ref{Key: graph.Key{Name: name}, UID: "u"}}), time.Now())
		if errs := validation.IsDNS1123Subdomain(e.Name); len(errs) > 0 {
			t.Errorf("%s: %v", e.Name, errs)
		}
	}
	a := graph.Report{Object: graph.Ref{Key: graph.Key{Name: "a"}, UID: "u"}, Owner: graph.Owner{Name: "o"}}
	b, c := a, a
	b.Owner.Name, c.Object.UID = "p", "v"
	name := func(r graph.Report) string { return eventName(foreign(r)) }
	if name(a) == name(b) || name(a) == name(c) {
		t.Error("a name doesn't stand for the object and the text")
	}
}

// TestEventExpires removes an Event between the two requests that count it.
func TestEventExpires(t *testing.T) {
	s := newServer(t, nil)
	r := newRecorder(s, maxReports, time.Second, Config{}.withDefaults().Log)
	report := foreign(graph.Report{Object: graph.Ref{UID: "u", Key: graph.Key{Name: "a"}}})
	if err := r.send(t.Context(), report, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	s.fault(func(verb string, _ Object) error {
		if verb == "count-event" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = nil
		}
		return nil
	})
	if err := r.send(t.Context(), report, time.Unix(2, 0)); err != nil {
		t.Fatal(err)
	}
	if len(s.events) != 1 || s.events[0].Count != 1 || s.events[0].FirstTimestamp.Unix() != 2 {
		t.Errorf("events: %v", s.events)
	}
}

// TestReportsAreBounded records more reports than may wait.
func TestReportsAreBounded(t *testing.T) {
	r := newRecorder(newServer(t, nil), maxReports, time.Second, Config{}.withDefaults().Log)
	for i := range maxReports + 10 {
		r.record(foreign(graph.Report{Object: graph.Ref{UID: fmt.Sprint(i)}}))
	}
	if len(r.notes) != maxReports || r.dropped.Load() != 10 {
		t.Errorf("%d waiting, %d dropped", len(r.notes), r.dropped.Load())
	}
}

// TestCollectedObjectsHaveEvents: each object that the collector deletes has an Event, if they are enabled. A
// terminating namespace accepts no Events, and this has no effect on those in other namespaces.
func TestCollectedObjectsHaveEvents(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, storagetest.NewTwin())
			s.fault(func(verb string, o Object) error {
				if verb == "create-event" && strings.HasPrefix(o.Name, "refused") {
					return terminating(o.Name)
				}
				return nil
			})
			run(t, s, Config{Events: enabled}, func(*Collector) {
				owner := s.put("configmaps/a/owner")
				s.put("configmaps/a/first", ownedBy(false, owner))
				s.put("configmaps/a/refused", ownedBy(false, owner))
				s.put("configmaps/a/second", ownedBy(false, owner))
				s.put("configmaps/a/kept")
				synctest.Wait()
				s.delete("configmaps/a/owner", metav1.DeletePropagationBackground)
				synctest.Wait()
			})
			s.mu.Lock()
			defer s.mu.Unlock()
			got := map[string]string{}
			for _, e := range s.events {
				got[e.InvolvedObject.Name] = strings.Join([]string{e.Namespace, e.Type, e.Reason, e.Source.Component}, " ")
				if want := "deleted by the garbage collector, propagationPolicy Background: owner v1/ConfigMap owner, " +
					"uid uid-owner, is gone"; e.Message != want {
					t.Errorf("message %q, want %q", e.Message, want)
				}
			}
			want := map[string]string{}
			if enabled {
				want["first"] = "a Normal GarbageCollected garbage-collector-controller"
				want["second"] = want["first"]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("enabled %t: want -, got +:\n%s", enabled, diff)
			}
		})
	}
}

// terminating returns the error for an Event in a namespace that is being deleted (I-18).
func terminating(name string) error {
	err := apierrors.NewForbidden(corev1.Resource("events"), name, errors.New("the namespace is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}
