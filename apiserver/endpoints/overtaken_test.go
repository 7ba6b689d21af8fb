package endpoints_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage"
)

// overtaken is a store in which another client removes an object, and may create another one of its name, right before
// the object is to be removed.
type overtaken struct {
	storage.Store
	key, next string
	done      bool
}

func (s *overtaken) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	if t.Key == s.key && t.Value == nil && !s.done {
		s.done = true
		if _, err := s.Store.Commit(ctx, t); err != nil {
			return 0, err
		}
		if s.next != "" {
			if _, err := s.Store.Commit(ctx, storage.Txn{Key: s.key, Value: []byte(s.next)}); err != nil {
				return 0, err
			}
		}
	}
	return s.Store.Commit(ctx, t)
}

// TestOvertakenDelete: a DELETE that has marked a pod has succeeded, though another client removes the pod first
// (kubernetes#19403; AS registry/generic/registry/store.go: updateForGracefulDeletionAndFinalizers, ignoreNotFound). A
// new pod of the same name is not deleted.
func TestOvertakenDelete(t *testing.T) {
	const pods, key = "/api/v1/namespaces/default/pods", "/registry/pods/default/p"
	for name, next := range map[string]string{
		"removed":  "",
		"replaced": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","uid":"new"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			store := &overtaken{}
			s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
				store.Store = c.Store
				c.Store = store
			}})
			pod := must(t, s.Do("POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`),
				http.StatusCreated).Object()
			store.key, store.next = key, next
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
	store := &overtaken{key: "/registry/configmaps/default/m"}
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		store.Store = c.Store
		c.Store = store
	}})
	must(t, s.Do("POST", maps, `{"metadata":{"name":"m","finalizers":["example.com/hold"]}}`), http.StatusCreated)
	must(t, s.Do("DELETE", maps+"/m", nil), http.StatusOK)
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}`
	if o := must(t, s.Do("PUT", maps+"/m", body), http.StatusOK).Object(); o.GetDeletionTimestamp() == nil {
		t.Errorf("%v", o.Object["metadata"])
	}
	if !store.done {
		t.Error("no other client has removed the object")
	}
	must(t, s.Do("GET", maps+"/m", nil), http.StatusNotFound)
}
