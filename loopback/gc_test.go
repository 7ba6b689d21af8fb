package loopback_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/loopback"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

const (
	configMaps      = "/api/v1/namespaces/default/configmaps"
	controllersPath = "/api/v1/namespaces/default/replicationcontrollers"
)

func collectorOf(s *apiservertest.Server) *loopback.Collector {
	return &loopback.Collector{
		API: s.API.Loopback(
			authorization.ServiceAccount("kube-system", "generic-garbage-collector"), "kube-controller-manager"),
	}
}

// collect runs a collector until the test or stop ends it.
func collect(t testing.TB, s *apiservertest.Server) (stop func()) {
	c := collectorOf(s)
	collector := gc.New(gc.Config{API: c, Timeline: s.Cache, Kinds: c})
	return during(t, func(ctx context.Context) { _ = collector.Run(ctx) }) // its error is the context's
}

// reference returns an owner reference.
func reference(o *unstructured.Unstructured, block any) map[string]any {
	r := map[string]any{
		"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "name": o.GetName(), "uid": string(o.GetUID()),
	}
	if block != nil {
		r["blockOwnerDeletion"] = block
	}
	return r
}

// create stores an object with that metadata besides its name, and what else is in the body.
func create(
	t *testing.T, s *apiservertest.Server, path, name string, meta map[string]any, body map[string]any,
) *unstructured.Unstructured {
	t.Helper()
	m := map[string]any{"name": name}
	for k, v := range meta {
		m[k] = v
	}
	o := map[string]any{"metadata": m}
	for k, v := range body {
		o[k] = v
	}
	a := s.Do("POST", path, o)
	if a.Code != http.StatusCreated {
		t.Fatalf("creating %s: %d %s", name, a.Code, a.Body)
	}
	return a.Object()
}

func refOf(t *testing.T, o *unstructured.Unstructured, collection string) gc.Object {
	t.Helper()
	rev, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return gc.Object{Key: graph.Key{Collection: collection, Namespace: o.GetNamespace(), Name: o.GetName()},
		APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), UID: string(o.GetUID()), Revision: rev}
}

// until reads a path again after every change of the store, until the response is as wanted.
func until(
	t *testing.T, s *apiservertest.Server, path string, want func(apiservertest.Answer) bool) apiservertest.Answer {
	t.Helper()
	for {
		rev := s.Cache.Revision()
		if a := s.Do("GET", path, nil); want(a) {
			return a
		}
		if err := s.Cache.Wait(t.Context(), rev+1); err != nil {
			t.Fatalf("waiting for %s: %v", path, err)
		}
	}
}

func missing(a apiservertest.Answer) bool { return a.Code == http.StatusNotFound }

func owners(t *testing.T, s *apiservertest.Server, path string) []metav1.OwnerReference {
	t.Helper()
	a := s.Do("GET", path, nil)
	if a.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, a.Code, a.Body)
	}
	return a.Object().GetOwnerReferences()
}

// TestOwnerReferencePatches is D-S08: removing owners 2 and 3 of 1, 2, 3 leaves 1; unblocking sets
// blockOwnerDeletion to false where it was true and leaves it where it was false or absent (D-53), in
// the references that the object has by then (J-14).
func TestOwnerReferencePatches(t *testing.T) {
	s := apiservertest.Start(t, nil)
	c := collectorOf(s)
	var refs []any
	var uids []string
	for i, block := range []any{true, false, nil, true} {
		o := create(t, s, configMaps, fmt.Sprint("owner-", i), nil, nil)
		refs, uids = append(refs, reference(o, block)), append(uids, string(o.GetUID()))
	}
	d := create(t, s, configMaps, "d", map[string]any{"ownerReferences": refs, "labels": map[string]any{"a": "b"}},
		map[string]any{"data": map[string]any{"k": "v"}})
	blocks := func() (out []string) {
		for _, r := range owners(t, s, configMaps+"/d") {
			b := "nil"
			if r.BlockOwnerDeletion != nil {
				b = fmt.Sprint(*r.BlockOwnerDeletion)
			}
			out = append(out, r.Name+" "+b)
		}
		return out
	}
	if err := c.Unblock(t.Context(), graph.Unblock{Object: refOf(t, d, "configmaps"), Owners: uids[:3]}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"owner-0 false", "owner-1 false", "owner-2 nil", "owner-3 true"}, blocks()); diff != "" {
		t.Errorf("unblocked, want -, got +:\n%s", diff)
	}
	// The revision is an older one by now, which matters only if it is said to (D-51).
	r := graph.RemoveOwners{Object: refOf(t, d, "configmaps"), Owners: uids[1:3], Exact: true}
	if err := c.RemoveOwners(t.Context(), r); !apierrors.IsConflict(err) {
		t.Errorf("removing at an older revision: %v", err)
	}
	r.Exact = false
	for range 2 { // the second time there is nothing to do
		if err := c.RemoveOwners(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"owner-0 false", "owner-3 true"}, blocks()); diff != "" {
		t.Errorf("removed, want -, got +:\n%s", diff)
	}
	after := s.Do("GET", configMaps+"/d", nil).Object()
	if after.GetLabels()["a"] != "b" || after.GetGeneration() != d.GetGeneration() {
		t.Errorf("more was changed: %v", after)
	}
	r.Object.UID = "another" // J-40
	if err := c.RemoveOwners(t.Context(), r); !apierrors.IsNotFound(err) {
		t.Errorf("removing owners of another object of the name: %v", err)
	}
}

// TestKindsOfTheCollector is D-S19a: what is stored can be deleted, listed and watched, and stands in the
// collector's table in every version that is served, one of them preferred; what isn't stored
// doesn't. A change of the types is told.
func TestKindsOfTheCollector(t *testing.T) {
	s := apiservertest.Start(t, nil)
	table, changed := collectorOf(s).Kinds()
	preferred := map[string]int{}
	seen := map[schema.GroupVersionKind]bool{}
	for _, k := range table {
		gvk := schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
		seen[gvk] = true
		if k.Preferred {
			preferred[k.Collection]++
		}
	}
	for _, r := range s.Types.All() {
		if stored := r.Collection != ""; stored != seen[r.GroupVersionKind()] && s.Types.Kind(r.GroupVersionKind()) == r {
			t.Errorf("%v: stored is %v", r.GroupVersionKind(), stored)
		}
		if r.Collection == "" {
			continue
		}
		for _, verb := range []string{"delete", "list", "watch", "patch"} {
			if !slices.Contains(r.Verbs, verb) {
				t.Errorf("%s has no %s", r.Plural, verb)
			}
		}
		if n := preferred[r.Collection]; n != 1 && r.Collection != "events" { // two groups have events
			t.Errorf("%s is preferred %d times", r.Collection, n)
		}
	}
	s.Types.Add(thing)
	<-changed
	table, _ = collectorOf(s).Kinds()
	if !slices.Contains(
		table,
		graph.Kind{APIVersion: "new.io/v1", Kind: "Thing", Collection: "new.io/things", Namespaced: true, Preferred: true},
	) {
		t.Error("the new kind isn't in the table")
	}
}

// thing is a custom type as far as owner references go.
var thing = &resources.Resource{
	Served: resources.Served{
		Group: "new.io", Version: "v1", Singular: "thing", Kind: "Thing",
		Verbs: []string{"get", "list", "watch", "delete"},
	},
	Plural:         "things",
	Namespaced:     true,
	CustomResource: resources.CustomResource{Custom: true},
	Storage: resources.Storage{
		Collection: "new.io/things",
		Stored:     schema.GroupVersionKind{Group: "new.io", Version: "v1", Kind: "Thing"},
	},
	New: func() runtime.Object { return &unstructured.Unstructured{} }}

// TestConcurrentDeletionsFollowTheirOptions is D-S22a: five times ten controllers of three pods each, deleted at once
// with several options; those of the third group take their pods with them.
func TestConcurrentDeletionsFollowTheirOptions(t *testing.T) {
	s := apiservertest.Start(t, nil)
	collect(t, s)
	groups := []struct {
		finalizers []any
		query      string
	}{
		{}, {finalizers: []any{"orphan"}}, {finalizers: []any{"orphan"}, query: "?orphanDependents=false"},
		{query: "?orphanDependents=true"}, {query: "?propagationPolicy=Orphan"},
	}
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}}
	var clients sync.WaitGroup
	for g, group := range groups {
		clients.Go(func() {
			for i := range 10 {
				name := fmt.Sprintf("rc-%d-%d", g, i)
				rc := create(t, s, controllersPath, name, map[string]any{"finalizers": group.finalizers},
					map[string]any{"spec": map[string]any{"replicas": 0, "selector": map[string]any{"a": "b"}, "template": template}})
				for p := range 3 {
					create(t, s, pods, fmt.Sprintf("%s-%d", name, p), map[string]any{"ownerReferences": []any{reference(rc, true)},
						"labels": map[string]any{"group": fmt.Sprint(g)}}, map[string]any{"spec": template["spec"]})
				}
				if a := s.Do("DELETE", controllersPath+"/"+name+group.query, nil); a.Code >= 300 {
					t.Errorf("deleting %s: %d %s", name, a.Code, a.Body)
				}
			}
		})
	}
	clients.Wait()
	until(t, s, controllersPath, func(a apiservertest.Answer) bool { return len(a.List().Items) == 0 })
	until(t, s, pods+"?labelSelector=group%3D2", func(a apiservertest.Answer) bool { return len(a.List().Items) == 0 })
	left := s.Do("GET", pods, nil).List().Items
	if len(left) != 120 {
		t.Errorf("%d pods are left", len(left))
	}
	for _, p := range left {
		if len(p.GetOwnerReferences()) > 0 || p.GetDeletionTimestamp() != nil {
			t.Errorf("%s: %v", p.GetName(), p.GetOwnerReferences())
		}
	}
}

// TestLastFinalizerUnderPrecondition is J-20: a deletion in the background under a precondition on the
// revision takes the collector's finalizer and the object, where upstream answers a conflict.
func TestLastFinalizerUnderPrecondition(t *testing.T) {
	s := apiservertest.Start(t, nil)
	for _, finalizer := range []string{"orphan", "foregroundDeletion"} {
		o := create(t, s, configMaps, "o", map[string]any{"finalizers": []any{finalizer}}, nil)
		a := s.Do("DELETE", configMaps+"/o", map[string]any{"propagationPolicy": "Background",
			"preconditions": map[string]any{"resourceVersion": o.GetResourceVersion(), "uid": string(o.GetUID())}})
		expect(t, a, http.StatusOK)
		expect(t, s.Do("GET", configMaps+"/o", nil), http.StatusNotFound)
	}
}

// TestReleaseAtTheRevision is J-50 for the collector's own requests: an owner that was written since the decision is
// not removed with what was written.
func TestReleaseAtTheRevision(t *testing.T) {
	s := apiservertest.Start(t, nil)
	c := collectorOf(s)
	create(t, s, configMaps, "o", nil, nil)
	seen := s.Do("DELETE", configMaps+"/o?propagationPolicy=Orphan", nil).Object()
	r := graph.RemoveFinalizer{Object: refOf(t, seen, "configmaps"), Finalizer: graph.Orphan}
	do(t, s, "PATCH", configMaps+"/o", `{"data":{"late":"write"}}`)
	if err := c.RemoveFinalizer(t.Context(), r); !apierrors.IsConflict(err) {
		t.Errorf("releasing at an older revision: %v", err)
	}
	a := s.Do("GET", configMaps+"/o", nil)
	expect(t, a, http.StatusOK, `"data":{"late":"write"}`)
	now := a.Object()
	r.Object = refOf(t, now, "configmaps")
	if err := c.RemoveFinalizer(t.Context(), r); err != nil {
		t.Error(err)
	}
	expect(t, s.Do("GET", configMaps+"/o", nil), http.StatusNotFound)
}

// slipping is a store in which a client writes to an object right before it is removed, once.
type slipping struct {
	storage.Store
	key  string
	once sync.Once
	slip func()
}

func (s *slipping) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	if t.Key == s.key && t.Value == nil {
		s.once.Do(s.slip)
	}
	return s.Store.Commit(ctx, t)
}

// TestRemovalByUpdate is J-50 for an update that takes the last finalizer: a write that slips in between
// the comparison of the revisions and the removal is not removed with the object; who named the older
// revision gets a conflict.
func TestRemovalByUpdate(t *testing.T) {
	store := &slipping{Store: storagetest.Open(t), key: storage.DefaultRoot + "/configmaps/default/o"}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store})
	create(t, s, configMaps, "o", map[string]any{"finalizers": []any{"x/y"}}, nil)
	marked := s.Do("DELETE", configMaps+"/o", nil).Object()
	marked.SetFinalizers(nil)
	store.slip = func() {
		do(t, s, "PATCH", configMaps+"/o", `{"data":{"late":"write"}}`)
	}
	expect(t, s.Do("PUT", configMaps+"/o", marked.Object), http.StatusConflict)
	a := s.Do("GET", configMaps+"/o", nil)
	expect(t, a, http.StatusOK, `"data":{"late":"write"}`)
	now := a.Object()
	now.SetFinalizers(nil)
	expect(t, s.Do("PUT", configMaps+"/o", now.Object), http.StatusOK)
	expect(t, s.Do("GET", configMaps+"/o", nil), http.StatusNotFound)
}

// TestGuardedDelete is what makes collection atomic: a delete is rejected when an owner in the decision
// has changed, has come to be, or has gone, even if the dependent is as it was.
func TestGuardedDelete(t *testing.T) {
	s := apiservertest.Start(t, nil)
	c := collectorOf(s)
	d := create(t, s, configMaps, "d", nil, nil)
	o := create(t, s, configMaps, "o", nil, nil)
	key := func(name string) string { return storage.DefaultRoot + "/configmaps/default/" + name }
	rev := refOf(t, o, "configmaps").Revision
	namesake := refOf(t, create(t, s, configMaps, "namesake", nil, nil), "configmaps").Revision
	do(t, s, "PATCH", configMaps+"/namesake", `{"metadata":{"labels":{"a":"b"}}}`)
	for _, g := range []storage.Guard{{Key: key("o")}, {Key: key("o"), ModRevision: rev - 1},
		{Key: key("never"), ModRevision: rev},
		{Key: key("namesake"), ModRevision: namesake}, {Key: key("namesake"), ModRevision: namesake - 1, Held: true}} {
		err := c.Delete(t.Context(), gc.DeleteRequest{
			Object: refOf(t, d, "configmaps"), Policy: metav1.DeletePropagationBackground, Guards: []storage.Guard{g},
		})
		if !apierrors.IsConflict(err) {
			t.Errorf("guard %v: %v", g, err)
		}
	}
	holds := []storage.Guard{
		{Key: key("o"), ModRevision: rev}, {Key: key("never")}, {Key: key("namesake"), ModRevision: namesake, Held: true},
	}
	if err := c.Delete(
		t.Context(),
		gc.DeleteRequest{Object: refOf(t, d, "configmaps"), Policy: metav1.DeletePropagationBackground, Guards: holds},
	); err != nil {
		t.Error(err)
	}
}

// TestEventsOfTheCollector is D-80 to D-83: there is one Event for each dependent, which counts the repetitions, those
// after a restart too.
func TestEventsOfTheCollector(t *testing.T) {
	s := apiservertest.Start(t, nil)
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
	far := create(t, s, "/api/v1/namespaces/other/configmaps", "far", nil, nil)
	refs := map[string]any{"ownerReferences": []any{reference(far, nil)}, "finalizers": []any{"x/y"}}
	create(t, s, "/apis/rbac.authorization.k8s.io/v1/clusterroles", "system:odd", refs, nil)
	create(t, s, configMaps, "held", refs, nil)
	for n := range 3 {
		stop := collect(t, s)
		const path = "/api/v1/namespaces/default/events?fieldSelector=reason%3DOwnerRefInvalidNamespace" // J-19
		a := until(t, s, path, func(a apiservertest.Answer) bool {
			return strings.Count(string(a.Body), fmt.Sprintf(`"count":%d`, n+1)) == 2
		})
		stop()
		if events := a.List().Items; len(events) != 2 {
			t.Fatalf("%d events: %s", len(events), a.Body)
		}
	}
}
