package endpoints_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage"
)

// intercepted is a store that calls before with each transaction, and then executes it.
type intercepted struct {
	storage.Store
	before func(storage.Txn)
}

func (s *intercepted) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	if s.before != nil {
		s.before(t)
	}
	return s.Store.Commit(ctx, t)
}

// intercept puts the store before that of a server.
func (s *intercepted) intercept(c *apiserver.Config) {
	s.Store = c.Store
	c.Store = s
}

// overtakes has another client remove an object, and create another one of its name if next is not empty, right before
// the object is to be removed.
func (s *intercepted) overtakes(t *testing.T, key, next string) {
	s.before = func(txn storage.Txn) {
		if txn.Key != key || txn.Value != nil {
			return
		}
		s.before = nil
		_, err := s.Store.Commit(t.Context(), txn)
		if err == nil && next != "" {
			_, err = s.Store.Commit(t.Context(), storage.Txn{Key: key, Value: []byte(next)})
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestOvertakenDelete: a DELETE that has marked a pod succeeds even if another client removes the pod first
// (kubernetes#19403; AS registry/generic/registry/store.go: updateForGracefulDeletionAndFinalizers, ignoreNotFound). A
// new pod of the same name is not deleted.
func TestOvertakenDelete(t *testing.T) {
	const pods, key = "/api/v1/namespaces/default/pods", "/registry/pods/default/p"
	for name, next := range map[string]string{
		"removed":  "",
		"replaced": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","uid":"new"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			store := &intercepted{}
			s := apiservertest.Start(t, &apiservertest.Options{Configure: store.intercept})
			pod := must(t, s.Do("POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`),
				http.StatusCreated).Object()
			store.overtakes(t, key, next)
			a := must(t, s.Do("DELETE", pods+"/p", nil), http.StatusOK).Object()
			if grace := a.GetDeletionGracePeriodSeconds(); a.GetUID() != pod.GetUID() || grace == nil || *grace != 0 {
				t.Errorf("%v", a.Object["metadata"])
			}
			want := http.StatusNotFound
			if next != "" {
				want = http.StatusOK
			}
			must(t, s.Do("GET", pods+"/p", nil), want)
		})
	}
}

// TestUpdateOfTheLastFinalizerSucceedsIfAnotherRemovesTheObjectFirst: the object is as the client wanted it (B-20; AS
// registry/generic/registry/store.go: deleteWithoutFinalizers).
func TestUpdateOfTheLastFinalizerSucceedsIfAnotherRemovesTheObjectFirst(t *testing.T) {
	const maps = "/api/v1/namespaces/default/configmaps"
	store := &intercepted{}
	s := apiservertest.Start(t, &apiservertest.Options{Configure: store.intercept})
	must(t, s.Do("POST", maps, `{"metadata":{"name":"m","finalizers":["example.com/hold"]}}`), http.StatusCreated)
	must(t, s.Do("DELETE", maps+"/m", nil), http.StatusOK)
	store.overtakes(t, "/registry/configmaps/default/m", "")
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}`
	if o := must(t, s.Do("PUT", maps+"/m", body), http.StatusOK).Object(); o.GetDeletionTimestamp() == nil {
		t.Errorf("%v", o.Object["metadata"])
	}
	if store.before != nil {
		t.Error("no other client has removed the object")
	}
	must(t, s.Do("GET", maps+"/m", nil), http.StatusNotFound)
}
