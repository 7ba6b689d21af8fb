package follower_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/follower"
)

// TestOwnerIsAsNewAsTheCache makes random changes, some more than the history holds, and random failures of the owner.
func TestOwnerIsAsNewAsTheCache(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	c := cache.New(cache.Options{Decoder: storage.Decoder{Root: "/registry"}, Events: 64})
	want, got, rebuilt := map[string]int64{}, map[string]int64{}, 0
	f := follower.New(c, "pods", "secrets")
	b := storage.Batch{Reset: true, Revision: 1}
	if err := c.Apply(b); err != nil {
		t.Fatal(err)
	}
	for b.Revision < 9000 {
		b = storage.Batch{Revision: b.Revision}
		for range 1 + random.IntN(40)*(1+random.IntN(10)/9*10) {
			b.Revision++
			collection := []string{"pods", "secrets", "leases"}[random.IntN(3)]
			key := fmt.Sprintf("/registry/%s/ns/%d", collection, random.IntN(9))
			e := storage.Event{Key: key, Revision: b.Revision}
			if delete(want, key); random.IntN(3) > 0 {
				e.Value = []byte(`{"metadata":{"name":"a"}}`)
			}
			if e.Value != nil && collection != "leases" {
				want[key] = e.Revision
			}
			b.Events = append(b.Events, e)
		}
		if err := c.Apply(b); err != nil {
			t.Fatal(err)
		}
		fails, misses := random.IntN(8) == 0, random.IntN(8) == 0
		err := f.CatchUp(func(i int, events []*cache.Event) bool {
			for _, e := range events {
				if delete(got, e.Object.Key); e.Type != cache.Deleted {
					got[e.Object.Key] = e.Revision
				}
			}
			return !misses
		}, func(of []*cache.Snapshot) error {
			rebuilt++
			clear(got)
			if fails {
				return errors.New("failed")
			}
			for _, s := range of {
				for o := range s.Ascend("", "") {
					got[o.Key] = o.Revision
				}
			}
			return nil
		})
		if err == nil && !maps.Equal(want, got) {
			t.Fatalf("at revision %d: the owner has %v, the cache %v", b.Revision, got, want)
		}
	}
	if rebuilt < 10 || rebuilt > 400 {
		t.Errorf("rebuilt %d times", rebuilt)
	}
}
