package registry

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// lagging is a store at revision 2 whose event arrives during the first consistent read.
type lagging struct {
	storage.Store
	arrive func() error
}

func (s lagging) Revision(context.Context) (int64, error) { return 2, s.arrive() }

// TestBoundToANewObject: a token can be used before the cache has its service account.
func TestBoundToANewObject(t *testing.T) {
	d := storage.Decoder{Root: storage.DefaultRoot, Fields: builtinTypes.SelectableFields}
	c := cache.New(cache.Options{Decoder: d})
	if err := c.Apply(storage.Batch{Reset: true, Revision: 1}); err != nil {
		t.Fatal(err)
	}
	store := lagging{arrive: func() error {
		return c.Apply(storage.Batch{Revision: 2, Events: []storage.Event{{Revision: 2, Key: d.Root + "/serviceaccounts/n/a",
			Value: []byte(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a","namespace":"n","uid":"u"}}`)}}})
	}}
	s := &Registry{Data: Data{Store: store, Cache: c, Decoder: &d, Root: d.Root, Types: builtinTypes}}
	accounts := corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	if uid, _, ok := s.Bound(t.Context(), accounts, "n", "a"); uid != "u" || !ok {
		t.Errorf("%q %v", uid, ok)
	}
}
