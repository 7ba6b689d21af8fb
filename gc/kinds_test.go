package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// odds returns the table with the kind Odd in one of its scopes.
func odds(namespaced bool) []graph.Kind {
	odd := graph.Kind{APIVersion: "odd.io/v1", Kind: "Odd", Collection: "odds", Namespaced: namespaced}
	return append(slices.Clone(builtins), odd)
}

// rescope serves Odd at cluster scope and then creates an owner of that scope and its dependent. It returns
// when the timeline shows them.
func (s *server) rescope(owner, dependent string) {
	s.t.Helper()
	s.serve(odds(false))
	s.put(dependent, ownedBy(false, s.put(owner)))
	rev, err := s.store.Revision(s.t.Context())
	if err != nil {
		s.t.Error(err)
	}
	if err := s.cache.Wait(s.t.Context(), rev); err != nil {
		s.t.Error(err)
	}
}

// TestScopeChangesWhileLoading: between the collector's reading of the table and of the objects, a
// CustomResourceDefinition is created again with another scope. By the older table the owner would be looked up in the
// dependent's namespace, where it does not exist.
func TestScopeChangesWhileLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, storagetest.NewTwin())
		s.serve(odds(true))
		s.meanwhile(func() { s.rescope("odds/x", "configmaps/a/d") })
		run(t, s, Config{}, func(*Collector) {
			s.want("configmaps/a/d odds/x")
		})
	})
}

// TestScopeChangesBeforeEvents: the table changes, and events of the newer one come in, while the collector is still
// busy with the table before. Both then wait for the collector, and a select would choose one at random. The number of
// rounds makes a correct order by chance very unlikely (one in a million).
func TestScopeChangesBeforeEvents(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server, _ *Collector) {
		for i := range 20 {
			owner, dependent := fmt.Sprint("odds/x", i), fmt.Sprint("configmaps/a/d", i)
			s.meanwhile(func() { s.rescope(owner, dependent) })
			s.serve(odds(true))
			s.want(dependent + " " + owner)
			s.delete(dependent, metav1.DeletePropagationBackground)
			s.delete(owner, metav1.DeletePropagationBackground)
			s.want("")
		}
		if n := len(s.calls); n > 0 {
			t.Errorf("%d requests of the collector: %v", n, s.calls)
		}
	})
}

// TestServedBetweenTables: a kind is served and no longer served while the collector is busy, so that no table that it
// reads has the kind. The dependents of a deleted owner of that kind are collected nevertheless (J-45).
func TestServedBetweenTables(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server, _ *Collector) {
		s.meanwhile(func() {
			s.rescope("odds/x", "configmaps/a/d")
			s.serve(builtins)
		})
		s.serve(builtins)
		s.want("configmaps/a/d odds/x")
		s.delete("odds/x", metav1.DeletePropagationBackground)
		s.want("")
	})
}

// TestObjectsOfOtherServersAreReadAfterTheirOwners: an object of another server that is read before its owner is not
// deleted. It is deleted when its owner is deleted.
func TestObjectsOfOtherServersAreReadAfterTheirOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sends := newServer(t, storagetest.NewTwin()), make(chan func(graph.Event), 1)
		follow := func(_ context.Context, send func(graph.Event)) { sends <- send }
		run(t, s, Config{Follow: follow}, func(*Collector) {
			send, thing := <-sends, graph.Kind{APIVersion: "g.io/v1", Kind: "Thing", Collection: graph.Aggregated + "g.io/things"}
			send(graph.Kinds{Table: []graph.Kind{thing}})
			for i := range 50 {
				name := fmt.Sprint(i)
				o := s.put("persistentvolumes/" + name)
				revision, err := strconv.ParseInt(o.ResourceVersion, 10, 64)
				if err = errors.Join(err, s.cache.Wait(t.Context(), revision)); err != nil {
					t.Fatal(err)
				}
				send(graph.Observed{Object: graph.Object{Key: graph.Key{Collection: thing.Collection, Name: "of-" + name},
					UID: "of-" + name, Owners: []graph.Owner{{APIVersion: "v1", Kind: o.Kind, Name: name, UID: string(o.UID)}}}})
			}
			s.delete("persistentvolumes/7", metav1.DeletePropagationBackground)
			synctest.Wait()
			if len(s.calls) != 1 || len(s.called("delete", "of-7")) != 1 {
				t.Errorf("%v", s.calls)
			}
		})
	})
}
