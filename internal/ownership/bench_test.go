package ownership

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// dependents is how many objects each owner of a benchmark has.
const dependents = 1000

// value is a ConfigMap of about 1 KiB; owner is -1 for none.
func value(i, owner int) []byte {
	owners := ""
	if owner >= 0 {
		owners = fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o%06d",`+
			`"uid":"1f0a3c5e-7b2d-4c6f-9a10-%012d","controller":true,"blockOwnerDeletion":true}]`, owner, owner)
	}
	return fmt.Appendf(nil, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"o%06d","namespace":"default",`+
		`"uid":"1f0a3c5e-7b2d-4c6f-9a10-%012d"%s},"data":{"k":"%0900d"}}`, i, i, owners, i)
}

func key(i int) string { return fmt.Sprintf("%s/configmaps/default/o%06d", storage.DefaultRoot, i) }

// filled is a service of a cluster of n ConfigMaps, of which every 1000th owns those after it.
func filled(b *testing.B, n int) (*Service, *cache.Cache) {
	b.Helper()
	c := cache.New(cache.Options{Decoder: storage.Decoder{Root: storage.DefaultRoot}})
	batch := storage.Batch{Reset: true, Revision: int64(n + 1)}
	for i := range n {
		owner := i / dependents * dependents
		if owner == i {
			owner = -1
		}
		batch.Events = append(batch.Events, storage.Event{Key: key(i), Value: value(i, owner), Revision: int64(i + 1)})
	}
	if err := c.Apply(batch); err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s := New(Config{
		Cache: c, Types: resources.NewTable(resources.Every(nil)...), Root: storage.DefaultRoot, Log: log,
		Revision:   func(context.Context) (int64, error) { return c.Revision(), nil },
		Authorizer: func() authorization.Authorizer { return authorization.AlwaysAllow{} },
	})
	b.Cleanup(s.Close)
	return s, c
}

// BenchmarkQuestion is one question about an owner of 1,000 of 100,000 objects, another one each time, after one write;
// "first" makes the index, too.
func BenchmarkQuestion(b *testing.B) {
	s, c := filled(b, 100_000)
	ask := func(b *testing.B, path, query string, i int) {
		target := fmt.Sprintf("/kubecascade/v1/%s?resource=configmaps&namespace=default&name=o%06d%s", path,
			i%100*dependents, query)
		for _, route := range s.Routes() {
			if route.Path == path {
				w := httptest.NewRecorder()
				route.Serve(w, httptest.NewRequest(http.MethodGet, target, nil))
				if w.Code != http.StatusOK {
					b.Fatalf("%s: %d %s", target, w.Code, w.Body)
				}
			}
		}
	}
	for _, q := range []struct{ name, path, query string }{
		{"tree", "tree", ""}, {"why", "why", ""}, {"preview", "preview", ""},
		{"foreground", "preview", "&propagationPolicy=Foreground"}, {"orphan", "preview", "&propagationPolicy=Orphan"},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				revision := c.Revision() + 1
				err := c.Apply(storage.Batch{Revision: revision, Events: []storage.Event{
					{Key: key(i * 7 % 100_000), Value: value(i*7%100_000, i*7%100_000/dependents*dependents), Revision: revision},
				}})
				if err != nil {
					b.Fatal(err)
				}
				ask(b, q.path, q.query, i)
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			s.drop()
			ask(b, "tree", "", i)
		}
	})
}
