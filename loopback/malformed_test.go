package loopback_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/gc"
)

// failure returns the message of a namespace's condition about its content; empty if it isn't True.
func failure(t *testing.T, a apiservertest.Answer) string {
	t.Helper()
	var ns corev1.Namespace
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(a.Object().Object, &ns); err != nil {
		t.Fatal(err)
	}
	for _, c := range ns.Status.Conditions {
		if c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}

// TestNamespaceWithMalformed: a namespace in which objects can't be read stays, and its status names them. It is
// removed as soon as they are gone. All other objects in it are deleted.
func TestNamespaceWithMalformed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) { c.DeleteMalformed = true }})
	starts(t, s, "namespace-controller")
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	const path = "/api/v1/namespaces/n/configmaps/"
	create(t, s, strings.TrimSuffix(path, "/"), "fine", nil, nil)
	create(t, s, "/api/v1/namespaces/n/secrets", "fine", nil, nil)
	s.Put(t, "/registry/configmaps/n/garbage", "garbage")
	s.Put(t, "/registry/configmaps/n/odd",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd","namespace":"n","uid":"u"},"data":7}`)
	do(t, s, "DELETE", "/api/v1/namespaces/n", "")
	a := until(t, s, "/api/v1/namespaces/n", func(a apiservertest.Answer) bool { return failure(t, a) != "" })
	for _, key := range []string{"/registry/configmaps/n/garbage", "/registry/configmaps/n/odd"} {
		if m := failure(t, a); !strings.Contains(m, key) {
			t.Errorf("the condition doesn't name %s: %s", key, m)
		}
	}
	until(t, s, path+"fine", missing)
	until(t, s, "/api/v1/namespaces/n/secrets/fine", missing)
	for _, name := range []string{"garbage", "odd"} {
		do(t, s, "DELETE", path+name, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`)
	}
	until(t, s, "/api/v1/namespaces/n", missing)
}

// TestCollectorTellsOfMalformed: the collector logs the key of an object that it can't read once, and again if it was
// repaired and is broken again.
func TestCollectorTellsOfMalformed(t *testing.T) {
	s := apiservertest.Start(t, nil)
	log := &apiservertest.Lines{}
	c := collectorOf(s)
	collector := gc.New(gc.Config{API: c, Timeline: s.Cache, Kinds: c, Log: slog.New(slog.NewTextHandler(log, nil))})
	during(t, func(ctx context.Context) { _ = collector.Run(ctx) }) // its error is the context's
	const key = "/registry/configmaps/default/garbage"
	put := func(value string) { s.Put(t, key, value) }
	processed := func() { // a dependent without an owner is collected after what came before it
		t.Helper()
		owner := []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "none"}}
		create(t, s, configMaps, "sentinel", map[string]any{"ownerReferences": owner}, nil)
		until(t, s, configMaps+"/sentinel", missing)
	}
	put("garbage")
	put("other garbage")
	processed()
	if got := strings.Count(log.String(), key); got != 2 { // the key and its error
		t.Errorf("%d times: %s", got, log)
	}
	put(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"garbage","namespace":"default","uid":"u"}}`)
	put("garbage again")
	processed()
	if got := strings.Count(log.String(), "msg=\"an object can't be decoded"); got != 2 {
		t.Errorf("%d times: %s", got, log)
	}
}
