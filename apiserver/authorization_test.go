package apiserver

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

const root = "/registry"

// line is a cache to which a test applies each change.
type line struct {
	t   *testing.T
	c   *cache.Cache
	rev int64
}

func newLine(t *testing.T, o cache.Options) *line {
	t.Helper()
	o.Decoder = storage.Decoder{Root: root}
	l := &line{t: t, c: cache.New(o), rev: 1}
	l.apply(storage.Batch{Reset: true, Revision: 1})
	return l
}

func (l *line) apply(b storage.Batch) {
	l.t.Helper()
	if err := l.c.Apply(b); err != nil {
		l.t.Fatal(err)
	}
}

// put stores a value. An empty value removes the key.
func (l *line) put(key, value string) {
	l.t.Helper()
	l.rev++
	e := storage.Event{Key: root + "/" + key, Revision: l.rev}
	if value != "" {
		e.Value = []byte(value)
	}
	l.apply(storage.Batch{Revision: l.rev, Events: []storage.Event{e}})
}

var get = &authorization.Attributes{
	User: authorization.User{Name: "u"}, Verb: "get", IsResource: true, Resource: "pods", Namespace: "n",
}

const (
	role    = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`
	binding = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"b","namespace":"n"},"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"User","name":"u"}]}`
)

// TestDecisionsFollowCache: each decision uses the state of the cache at that time.
func TestDecisionsFollowCache(t *testing.T) {
	l := newLine(t, cache.Options{})
	z := newRoles(l.c, slog.New(slog.DiscardHandler))
	want := func(allowed bool, after string) {
		t.Helper()
		if z.Authorize(get).Allowed() != allowed {
			t.Errorf("after %s: allowed is %v", after, !allowed)
		}
	}
	want(false, "nothing")
	l.put("clusterroles/r", role)
	want(false, "the role")
	l.put("rolebindings/n/b", binding)
	want(true, "the binding")
	l.put("clusterroles/r", "broken")
	want(false, "the role was broken")
	l.put("clusterroles/r", role)
	want(true, "it was mended")
	l.put("rolebindings/n/b", "")
	want(false, "the binding was removed")
}

// TestAuthorizerRebuildsItsPolicy: an authorizer rebuilds its policy if the cache no longer has the events that it has
// missed.
func TestAuthorizerRebuildsItsPolicy(t *testing.T) {
	l := newLine(t, cache.Options{Events: 64})
	z := newRoles(l.c, slog.New(slog.DiscardHandler))
	l.put("clusterroles/r", role)
	l.put("rolebindings/n/b", binding)
	if !z.Authorize(get).Allowed() {
		t.Fatal("denied")
	}
	l.put("rolebindings/n/b", "")
	for i := range 1000 {
		l.put(fmt.Sprintf("rolebindings/n/c%d", i), binding)
		l.put(fmt.Sprintf("rolebindings/n/c%d", i), "")
	}
	if z.Authorize(get).Allowed() {
		t.Error("a binding that was removed in the meantime still grants permissions")
	}
}

// TestStateReplaced: an authorizer uses the newest state, even if states are replaced, and their history is dropped,
// while it reads them.
func TestStateReplaced(t *testing.T) {
	l := newLine(t, cache.Options{})
	var lines bytes.Buffer
	z := newRoles(l.c, slog.New(slog.NewTextHandler(&lines, nil)))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20_000 {
			l.rev++
			if err := l.c.Apply(storage.Batch{Reset: true, Revision: l.rev, Events: []storage.Event{
				{Key: root + "/clusterroles/r", Revision: l.rev, Value: []byte(role)},
			}}); err != nil {
				t.Error(err)
			}
		}
	}()
	for going := true; going; {
		z.Authorize(get)
		select {
		case <-done:
			going = false
		default:
		}
	}
	if lines.Len() > 0 {
		t.Errorf("%.300s", lines.String())
	}
}
