package loopback_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/storage"
)

// store writes a value into etcd without the server.
func store(t *testing.T, s *apiservertest.Server, key, value string) {
	t.Helper()
	if _, err := s.Store.Commit(
		t.Context(), storage.Txn{Key: storage.DefaultRoot + "/" + key, Value: []byte(value)},
	); err != nil {
		t.Fatal(err)
	}
}

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

// TestNamespaceWithMalformed: a namespace in which objects can't be read stays and says which they are; it goes as soon
// as they have gone. All else in it is deleted.
func TestNamespaceWithMalformed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) { c.DeleteMalformed = true }})
	starts(t, s, "namespace-controller")
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	const path = "/api/v1/namespaces/n/configmaps/"
	create(t, s, strings.TrimSuffix(path, "/"), "fine", nil, nil)
	create(t, s, "/api/v1/namespaces/n/secrets", "fine", nil, nil)
	store(t, s, "configmaps/n/garbage", "garbage")
	store(
		t, s, "configmaps/n/odd",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd","namespace":"n","uid":"u"},"data":7}`,
	)
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
		if a := s.Do("DELETE", path+
			name, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`); a.Code != http.StatusOK {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	until(t, s, "/api/v1/namespaces/n", missing)
}

// told is a log.
type told struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *told) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *told) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), what)
}

// TestCollectorTellsOfMalformed: the collector logs the key of an object that it can't read once, and again if it was
// repaired and is broken again.
func TestCollectorTellsOfMalformed(t *testing.T) {
	s := apiservertest.Start(t, nil)
	log := &told{}
	c := collectorOf(s)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		// its error is the context's
		_ = gc.New(gc.Config{API: c, Timeline: s.Cache, Kinds: c, Log: slog.New(slog.NewTextHandler(log, nil))}).Run(ctx)
	})
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	const key = "/registry/configmaps/default/garbage"
	put := func(value string) {
		t.Helper()
		r, _ := s.Store.Get(t.Context(), key)
		if _, err := s.Store.Commit(
			t.Context(), storage.Txn{Key: key, Expect: r.ModRevision, Value: []byte(value)},
		); err != nil {
			t.Fatal(err)
		}
	}
	processed := func() { // a dependent without an owner is collected after what came before it
		t.Helper()
		owner := []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "none"}}
		create(t, s, configMaps, "sentinel", map[string]any{"ownerReferences": owner}, nil)
		until(t, s, configMaps+"/sentinel", missing)
	}
	put("garbage")
	put("other garbage")
	processed()
	if got := log.count(key); got != 2 { // the key and its error
		t.Errorf("%d times: %s", got, log.b.String())
	}
	put(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"garbage","namespace":"default","uid":"u"}}`)
	put("garbage again")
	processed()
	if got := log.count("msg=\"an object can't be decoded"); got != 2 {
		t.Errorf("%d times: %s", got, log.b.String())
	}
}
