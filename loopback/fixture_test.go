package loopback_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// comes waits for the next event of the type, and returns the namespaces of all events up to it, in order.
func comes(t *testing.T, w *apiservertest.Watch, typ, namespace string) (before []string) {
	t.Helper()
	eventually(t, w, typ+" in "+namespace, func(e apiservertest.Event) bool {
		if e.Type == typ && e.Object.GetNamespace() == namespace {
			return true
		}
		before = append(before, e.Type+" "+e.Object.GetNamespace())
		return false
	})
	return before
}

// TestActiveNamespacesHavePromisedObjects: they are there as long as the namespace is active.
func TestActiveNamespacesHavePromisedObjects(t *testing.T) {
	s := apiservertest.Start(t, nil)
	starts(t, s, "root-ca-certificate-publisher-controller")
	const name = "/configmaps/kube-root-ca.crt"
	namespace := func(name string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"finalizers":["kubernetes"]}}`
	}
	w := s.Watch("/api/v1/configmaps?watch=1")
	comes(t, w, "ADDED", "default") // it was there before
	do(t, s, "POST", "/api/v1/namespaces", namespace("n"))
	comes(t, w, "ADDED", "n")
	do(t, s, "PATCH", "/api/v1/namespaces/n"+name, `{"data":{"ca.crt":"mine"}}`)
	comes(t, w, "MODIFIED", "n")
	comes(t, w, "MODIFIED", "n")
	if got := s.Do("GET", "/api/v1/namespaces/n"+name, nil).Object().
		Object["data"].(map[string]any)["ca.crt"]; got != "PEM" {
		t.Errorf("ca.crt is %v", got)
	}
	do(t, s, "DELETE", "/api/v1/namespaces/n"+name, "")
	comes(t, w, "ADDED", "n")

	// A terminating namespace is ignored.
	do(t, s, "DELETE", "/api/v1/namespaces/n", "")
	do(t, s, "DELETE", "/api/v1/namespaces/n"+name, "")
	comes(t, w, "DELETED", "n")
	do(t, s, "POST", "/api/v1/namespaces", namespace("later"))
	if before := comes(t, w, "ADDED", "later"); len(before) > 0 {
		t.Errorf("meanwhile: %v", before)
	}
	do(t, s, "PUT", "/api/v1/namespaces/n/finalize", `{"metadata":{"name":"n"},"spec":{"finalizers":[]}}`)
	do(t, s, "POST", "/api/v1/namespaces", namespace("n"))
	comes(t, w, "ADDED", "n")
}

// lines are those of a log; a full channel drops them.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

// TestFixtureOfMistyped: an object that can't be decoded stays, and the failure is logged. In other namespaces, and
// beside other objects of its resource that can't be decoded, it is created.
func TestFixtureOfMistyped(t *testing.T) {
	s := apiservertest.Start(t, nil)
	stored := func(namespace, name string) {
		s.Put(t, "/registry/configmaps/"+namespace+"/"+name, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"`+
			name+`","namespace":"`+namespace+`","uid":"u"},"data":7}`)
	}
	stored("default", "kube-root-ca.crt")
	stored("n", "other")
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	log := make(lines, 100)
	w := s.Watch("/api/v1/configmaps?watch=1")
	logging(t, s, slog.New(slog.NewTextHandler(log, nil)), "root-ca-certificate-publisher-controller")
	comes(t, w, "ADDED", "n")
	for !strings.Contains(<-log, "decoding /registry/configmaps/default/kube-root-ca.crt") {
	}
}
