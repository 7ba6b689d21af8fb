package gc

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// TestEvent compares with what a real server showed (reference: gc-namespaces; D-80 to D-84).
func TestEvent(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server, _ *Collector) {
		start := metav1.Now()
		far := s.put("configmaps/b/far")
		cross := s.put("configmaps/a/cross", ownedBy(false, far), held)
		s.put("persistentvolumes/pv", ownedBy(false, far))
		synctest.Wait()
		time.Sleep(time.Minute)
		// The same reference, new again: counted on the same event.
		s.put("configmaps/a/cross", func(o *object) { o.OwnerReferences = nil })
		s.put("configmaps/a/cross", ownedBy(true, far))
		synctest.Wait()

		event := func(name, namespace, in string, count int32, last time.Duration) corev1.Event {
			e := corev1.Event{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", name, start.UnixNano()), Namespace: in},
				Reason:     "OwnerRefInvalidNamespace", Type: "Warning",
				Message: fmt.Sprintf("ownerRef [v1/ConfigMap, namespace: %s, name: far, uid: uid-far] does not exist in namespace %q", namespace, namespace),
				Source:  corev1.EventSource{Component: "garbage-collector-controller"}, ReportingController: "garbage-collector-controller",
				FirstTimestamp: start, LastTimestamp: metav1.NewTime(start.Add(last)), Count: count,
			}
			e.InvolvedObject = corev1.ObjectReference{Kind: "ConfigMap", APIVersion: "v1", Namespace: namespace, Name: name, UID: cross.UID}
			if namespace == "" {
				e.InvolvedObject.Kind, e.InvolvedObject.UID = "PersistentVolume", "uid-pv"
			}
			return e
		}
		want := []corev1.Event{
			event("cross", "a", "a", 2, time.Minute),
			event("pv", "", "default", 1, 0), // J-19
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if diff := cmp.Diff(want, s.events); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	})
}

// TestRecorderIsBounded sends more events than are remembered, and reports more than may wait.
func TestRecorderIsBounded(t *testing.T) {
	s := newServer(t, nil)
	r := newRecorder(s, time.Second, Config{}.withDefaults().Log)
	report := func(i int) graph.Report {
		return graph.Report{Object: graph.Ref{UID: fmt.Sprint(i), Key: graph.Key{Name: fmt.Sprint(i)}}}
	}
	for i := range maxRemembered + 10 {
		if err := r.send(t.Context(), report(i), time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if r.sent.Len() != maxRemembered || len(r.byText) != maxRemembered {
		t.Errorf("%d, %d remembered", r.sent.Len(), len(r.byText))
	}
	for i := range maxReports + 10 {
		r.report(report(i))
	}
	if len(r.reports) != maxReports {
		t.Errorf("%d waiting", len(r.reports))
	}
}
