package ownership

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// value is a ConfigMap; owner is -1 for none.
func value(i, owner int) []byte {
	owners := ""
	if owner >= 0 {
		owners = fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o%06d",`+
			`"uid":"1f0a3c5e-7b2d-4c6f-9a10-%012d","controller":true,"blockOwnerDeletion":true}]`, owner, owner)
	}
	return fmt.Appendf(nil, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"o%06d","namespace":"default",`+
		`"uid":"1f0a3c5e-7b2d-4c6f-9a10-%012d"%s},"data":{"k":"v"}}`, i, i, owners)
}

func key(i int) string { return fmt.Sprintf("%s/configmaps/default/o%06d", storage.DefaultRoot, i) }

// TestIndex: an index that follows random writes is the one that is made of the result, also if history expires
// between two questions.
func TestIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	for _, history := range []int{16384, 64} {
		c := cache.New(cache.Options{
			Decoder: storage.Decoder{Root: storage.DefaultRoot}, TimelineEvents: history, Events: history,
		})
		if err := c.Apply(storage.Batch{Reset: true, Revision: 1}); err != nil {
			t.Fatal(err)
		}
		var x *index
		made := 0
		for revision := int64(2); revision < 400; {
			batch := storage.Batch{}
			for range 1 + r.IntN(100) {
				i := r.IntN(40)
				e := storage.Event{Key: key(i), Revision: revision}
				if r.IntN(4) > 0 {
					e.Value = value(i, r.IntN(6)-1)
				}
				batch.Events, batch.Revision = append(batch.Events, e), revision
				revision++
			}
			if err := c.Apply(batch); err != nil {
				t.Fatal(err)
			}
			before := x
			var at int64
			var err error
			if x, at, err = x.current(c); err != nil || at != c.Revision() {
				t.Fatalf("at revision %d of %d: %v", at, c.Revision(), err)
			}
			if x != before {
				made++
			}
			fresh, err := newIndex(c)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(x.uids, fresh.uids) || !reflect.DeepEqual(x.dependents, fresh.dependents) {
				t.Fatalf("at revision %d: %v\nis not %v", at, x, fresh)
			}
		}
		if long := history > 400; long != (made == 1) {
			t.Errorf("with a history of %d events the index was made %d times", history, made)
		}
	}
}

// TestGone: a client that went away has no answer, and nothing is computed for it.
func TestGone(t *testing.T) {
	c := cache.New(cache.Options{Decoder: storage.Decoder{Root: storage.DefaultRoot}})
	s := New(Config{Cache: c, Root: storage.DefaultRoot, Revision: func(context.Context) (int64, error) { return 1, nil }})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequest(http.MethodGet, "/kubecascade/v1/tree?uid=u", nil).WithContext(ctx)
	data, err := s.answer(r, "tree", nil)
	if !errors.Is(err, context.Canceled) || data != nil || s.Indexed() {
		t.Errorf("%s, %v", data, err)
	}
}
