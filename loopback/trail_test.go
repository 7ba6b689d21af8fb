package loopback_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/loopback"
	"github.com/kubecascade/kubecascade/storage"
)

// trailed is a server that serves its trail, with a collector.
type trailed struct {
	*apiservertest.Server
	t         *testing.T
	collector *gc.Collector
}

// trailing starts a server; store is nil for a new one.
func trailing(t *testing.T, store storage.Store) *trailed {
	var s *apiservertest.Server
	s = apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.Trail = trail.New(time.Now())
		c.Extensions = []render.Route{cluster.Trail(c.Trail,
			func() authorization.Authorizer { return s.API.Authorizer() }, slog.New(slog.DiscardHandler))}
		removals := &loopback.Removals{Cache: c.Cache, Types: c.Types, Trail: c.Trail, Now: time.Now}
		if store != nil {
			during(t, removals.Follow)
		}
	}})
	api := collectorOf(s)
	c := gc.New(gc.Config{API: api, Timeline: s.Cache, Kinds: api})
	started := &trailed{s, t, c}
	if store == nil {
		during(t, func(ctx context.Context) { _ = c.Run(ctx) }) // its error is the context's
		started.settle()                                        // what is deleted before it has read the store is absent to it
	}
	return started
}

// as sends a request as a user.
func (s *trailed) as(user, method, path, body string) {
	s.t.Helper()
	a := s.Do(method, path, body, "Impersonate-User", user, "Impersonate-Group", "system:masters",
		"User-Agent", "kubectl", "Audit-Id", "of "+user)
	if a.Code >= 300 {
		s.t.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
	}
}

// settle waits until the collector has nothing to do.
func (s *trailed) settle() {
	s.t.Helper()
	revision, err := s.Store.Revision(s.t.Context())
	if err == nil {
		err = s.Cache.Wait(s.t.Context(), revision)
	}
	if err == nil {
		_, err = s.collector.Idle(s.t.Context(), revision)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// why returns the trail of the ConfigMap of the name.
func (s *trailed) why(name string) *trail.Removal {
	s.t.Helper()
	var answer trail.Answer
	a := s.Do("GET", "/kubecascade/v1/trail?kind=ConfigMap&name="+name, nil)
	if err := json.Unmarshal(a.Body, &answer); err != nil || len(answer.Items) != 1 {
		s.t.Fatalf("trail of %s: %d %s", name, a.Code, a.Body)
	}
	return answer.Items[0]
}

// inShort returns a request in short: the user, the verb, the policy, the reason, and the names of the owners.
func inShort(r *trail.Request) string {
	if r == nil {
		return ""
	}
	words := []string{strings.TrimPrefix(r.User, "system:serviceaccount:kube-system:"), r.Verb}
	for _, word := range []string{r.Policy, string(r.Reason)} {
		if word != "" {
			words = append(words, word)
		}
	}
	for _, o := range r.Owners {
		words = append(words, o.Object.Name)
	}
	return strings.Join(words, " ")
}

// chain returns lines about the removal and those of its owners, the object itself first.
func chain(r *trail.Removal) (lines []string) {
	line := r.Object.Name + ": " + inShort(r.Asked)
	if r.Finished != nil {
		line += "; finished by " + inShort(r.Finished) + " (" + strings.Join(r.LastFinalizers, ",") + ")"
	}
	if len(r.Finalizers) > 0 {
		line += "; held by " + strings.Join(r.Finalizers, ",")
	}
	if r.Removed == nil {
		line += "; not removed"
	}
	lines = append(lines, line)
	if r.Asked != nil {
		for _, o := range r.Asked.Owners {
			if o.Trail != nil {
				lines = append(lines, chain(o.Trail)...)
			}
		}
	}
	return lines
}

func (s *trailed) expect(name string, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, chain(s.why(name))); diff != "" {
		s.t.Errorf("%s: want -, got +:\n%s", name, diff)
	}
}

// owned creates a ConfigMap with owners.
func (s *trailed) owned(
	name string, meta map[string]any, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	s.t.Helper()
	all := map[string]any{}
	for k, v := range meta {
		all[k] = v
	}
	var refs []any
	for _, o := range owners {
		refs = append(refs, reference(o, true))
	}
	all["ownerReferences"] = refs
	return create(s.t, s.Server, configMaps, name, all, nil)
}

// TestTrailLeadsToUsersRequest: the chain leads from an object to the request of a user, with each policy.
func TestTrailLeadsToUsersRequest(t *testing.T) {
	const delete = `{"propagationPolicy":"POLICY"}`
	for policy, want := range map[string][2][]string{
		"Background": {{
			"leaf: generic-garbage-collector delete Background OwnerDeleted middle",
			"middle: generic-garbage-collector delete Background OwnerDeleted top",
			"top: alice delete Background",
		}, nil},
		"Foreground": {{
			"leaf: generic-garbage-collector delete Background OwnerWaits middle",
			"middle: generic-garbage-collector delete Foreground OwnerWaits top; finished by generic-garbage-collector " +
				"update DependentsGone (foregroundDeletion); held by foregroundDeletion",
			"top: alice delete Foreground; finished by generic-garbage-collector update DependentsGone (foregroundDeletion); " +
				"held by foregroundDeletion",
		}, nil},
		"Orphan": {nil, {
			"top: alice delete Orphan; finished by generic-garbage-collector update DependentsOrphaned (orphan); " +
				"held by orphan",
		}},
	} {
		t.Run(policy, func(t *testing.T) {
			s := trailing(t, nil)
			top := s.owned("top", nil)
			s.owned("leaf", nil, s.owned("middle", nil, top))
			s.as("alice", "DELETE", configMaps+"/top", strings.Replace(delete, "POLICY", policy, 1))
			s.settle()
			if want[0] != nil {
				s.expect("leaf", want[0]...)
			}
			if want[1] != nil {
				s.expect("top", want[1]...)
				if a := s.Do("GET", "/kubecascade/v1/trail?kind=configmap&name=leaf", nil); a.Code != http.StatusNotFound ||
					!strings.Contains(a.Status().Message, "keeps only the last 100000 removals since it started") {
					t.Errorf("the leaf was orphaned: %d %s", a.Code, a.Body)
				}
			}
		})
	}
}

// TestTrailOwners: all owners of an object are named, and a removal by the collector has its revision and no details of
// HTTP; that of a user has them.
func TestTrailOwners(t *testing.T) {
	s := trailing(t, nil)
	a, b := s.owned("a", nil), s.owned("b", nil)
	s.owned("both", nil, a, b)
	s.as("alice", "DELETE", configMaps+"/a", "")
	s.settle()
	s.as("bob", "DELETE", configMaps+"/b?gracePeriodSeconds=0", "")
	s.settle()
	s.expect("both", "both: generic-garbage-collector delete Background OwnerDeleted b", "b: bob delete")
	got := s.why("b").Asked
	want := &trail.Request{User: "bob", UserAgent: "kubectl", Verb: "delete", AuditID: "of bob",
		URI: configMaps + "/b?gracePeriodSeconds=0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestTrailFinalizer: another user removes the last finalizer.
func TestTrailFinalizer(t *testing.T) {
	s := trailing(t, nil)
	s.owned("held", map[string]any{"finalizers": []any{"a.com/x", "b.com/y"}})
	s.as("alice", "DELETE", configMaps+"/held", "")
	s.expect("held", "held: alice delete; held by a.com/x,b.com/y; not removed")
	s.as("carol", "DELETE", configMaps+"/held", "") // too late: alice has asked
	s.as("bob", "PATCH", configMaps+"/held", `{"metadata":{"finalizers":["b.com/y"]}}`)
	s.as("bob", "PATCH", configMaps+"/held", `{"metadata":{"finalizers":null}}`)
	s.expect("held", "held: alice delete; finished by bob patch (b.com/y); held by a.com/x,b.com/y")
	r := s.why("held")
	if r.Terminating == nil || r.Removed == nil || r.Terminating.Revision+2 != r.Removed.Revision {
		t.Errorf("terminating %+v, removed %+v", r.Terminating, r.Removed)
	}
}

// TestTrailCollection: the objects of a collection share the request; a dry run and a failed precondition remove
// nothing.
func TestTrailCollection(t *testing.T) {
	s := trailing(t, nil)
	s.owned("one", map[string]any{"labels": map[string]any{"app": "x"}})
	s.owned("two", map[string]any{"labels": map[string]any{"app": "x"}})
	s.as("alice", "DELETE", configMaps+"?dryRun=All", "")
	if a := s.Do("DELETE", configMaps+"/one", `{"preconditions":{"uid":"other"}}`); a.Code != http.StatusConflict {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	const path = "/kubecascade/v1/trail?resource=configmaps&namespace=default"
	if a := s.Do("GET", path, nil); a.Code != http.StatusNotFound {
		t.Fatalf("after a dry run: %d %s", a.Code, a.Body)
	}
	s.as("alice", "DELETE", configMaps+"?labelSelector=app%3Dx&secret=x", "")
	for _, name := range []string{"one", "two"} {
		s.expect(name, name+": alice deletecollection")
		if got := s.why(name).Asked.URI; got != configMaps+"?labelSelector=app%3Dx&secret=REDACTED" {
			t.Errorf("URI %s", got)
		}
	}
}

// TestTrailEviction: an eviction is the request that deletes the pod.
func TestTrailEviction(t *testing.T) {
	s := trailing(t, nil)
	const pods = "/api/v1/namespaces/default/pods"
	s.as("alice", "POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	s.as("bob", "POST", pods+"/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},
		"deleteOptions":{"gracePeriodSeconds":0}}`)
	var answer trail.Answer
	a := s.Do("GET", "/kubecascade/v1/trail?kind=pod&name=p&namespace=default&group=", nil)
	if err := json.Unmarshal(a.Body, &answer); err != nil || len(answer.Items) != 1 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if r := answer.Items[0]; inShort(r.Asked) != "bob create" || r.Asked.URI != pods+"/p/eviction" || r.Finished != nil {
		t.Errorf("%+v", r.Asked)
	}
}

// TestTrailNamespace: the content of a namespace was deleted with it.
func TestTrailNamespace(t *testing.T) {
	s := trailing(t, nil)
	starts(t, s.Server, "namespace-controller")
	s.as("alice", "POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	s.as("alice", "POST", "/api/v1/namespaces/n/configmaps", `{"metadata":{"name":"content"}}`)
	w := s.Watch("/api/v1/namespaces?watch=1")
	s.as("bob", "DELETE", "/api/v1/namespaces/n", "")
	gone(t, w, "n")
	r := s.why("content")
	owner := r.Asked.Owners[0]
	if inShort(r.Asked) != "namespace-controller deletecollection Background NamespaceDeleted n" || owner.Trail == nil ||
		inShort(owner.Trail.Asked) != "bob delete" {
		t.Errorf("%v", chain(r))
	}
}

// TestTrailElsewhere: what another server over the same store removes is known, but not who requested it.
func TestTrailElsewhere(t *testing.T) {
	first := trailing(t, nil)
	second := trailing(t, first.Store)
	first.owned("a", map[string]any{"finalizers": []any{"a.com/x"}})
	second.as("alice", "DELETE", configMaps+"/a", "")
	first.as("bob", "PATCH", configMaps+"/a", `{"metadata":{"finalizers":null}}`)
	first.expect("a", "a: ; finished by bob patch (a.com/x)")
	for { // the follower of second is not the test's
		r := second.why("a")
		if r.Removed != nil {
			if inShort(r.Asked) != "alice delete" || r.Finished != nil || !r.Elsewhere {
				t.Errorf("%v, elsewhere %t", chain(r), r.Elsewhere)
			}
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the removal was not seen")
		}
	}
}
