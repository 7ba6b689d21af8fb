package controllers

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// namespaceStore is NamespaceAPI over a World; fail rejects creations.
type namespaceStore struct {
	*workloadtest.World
	fail    map[string]error
	creates int
}

func (s *namespaceStore) Lookup(_ context.Context, r workload.Resource, k workload.Key) (workload.Object, error) {
	if o := s.Get(r, k.Namespace, k.Name); o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: r.Plural}, k.Name)
}

func (s *namespaceStore) Create(_ context.Context, o workload.Object) (string, error) {
	s.creates++
	if err := s.fail[o.GetName()]; err != nil {
		return "", err
	}
	s.Put(o)
	return o.GetName(), nil
}

// TestEnsureSystemNamespaces: those that exist are not created again; a rejected one doesn't prevent the start, but a
// broken store does.
func TestEnsureSystemNamespaces(t *testing.T) {
	down := errors.New("down")
	s := &namespaceStore{World: workloadtest.New(), fail: map[string]error{
		"kube-public": apierrors.NewInternalError(errors.New("failed calling webhook"))}}
	ensure := func() error { return EnsureSystemNamespaces(t.Context(), s, slog.New(slog.DiscardHandler)) }
	if err := ensure(); err != nil || s.creates != 4 {
		t.Errorf("%d creations: %v", s.creates, err)
	}
	s.fail["kube-public"] = down
	if err := ensure(); !errors.Is(err, down) || s.creates != 5 {
		t.Errorf("%d creations: %v", s.creates, err)
	}
	s.fail = nil
	if err := errors.Join(ensure(), ensure()); err != nil || s.creates != 6 {
		t.Errorf("%d creations: %v", s.creates, err)
	}
}

// TestKeepSystemNamespaces: each gets a pass at the start, and when it is deleted; it is then created.
func TestKeepSystemNamespaces(t *testing.T) {
	w, c := workloadtest.New(), keepSystemNamespaces()
	for _, key := range c.Start() {
		if got := w.Pass(c, key); got != "  create Namespace "+key.Name+"\n" {
			t.Error(got)
		}
		if got := w.Pass(c, key); got != "" {
			t.Error(got)
		}
		gone := &workload.Meta{Key: key}
		if got := c.Wake(w, workload.Change{Resource: workload.Namespaces, Old: gone}); len(got) != 1 || got[0] != key {
			t.Errorf("after its deletion: %v", got)
		}
		if got := c.Wake(w, workload.Change{Resource: workload.Namespaces, Old: gone, New: gone}); got != nil {
			t.Errorf("after a change: %v", got)
		}
	}
	if n := len(c.Start()); n != 4 {
		t.Errorf("%d system namespaces", n)
	}
	key := c.Start()[0]
	r := mistyped{w, key.Name, errors.New("mistyped")}
	plan := c.Decide(workload.View{Reader: r, Key: key}, w.Now)
	if !errors.Is(plan.Err, r.err) || len(plan.Do) > 0 {
		t.Errorf("one can't be decoded: %+v", plan)
	}
}
