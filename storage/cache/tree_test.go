package cache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
)

// listed returns the keys and revisions of the objects that scan shows.
func listed(t *tree, prefix, from string) []string {
	got := []string{}
	for o := range t.scan(prefix, from) {
		got = append(got, fmt.Sprintf("%s@%d", o.Key, o.Revision))
	}
	return got
}

// listedMap is listed for the simple twin of a tree.
func listedMap(m map[string]int64, prefix, from string) []string {
	got := []string{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if strings.HasPrefix(k, prefix) && k >= from {
			got = append(got, fmt.Sprintf("%s@%d", k, m[k]))
		}
	}
	return got
}

// TestTreeEqualsMap puts and removes random objects in a clone, as Apply does, and compares it with a map. Published
// trees must never change.
func TestTreeEqualsMap(t *testing.T) {
	for _, keys := range []int{3, 40, 400, 4000} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed.Of(t), 0))
			type shown struct {
				tree *tree
				want []string
			}
			var old []shown
			now := newTree()
			twin := map[string]int64{}
			for step := range 400 {
				now = now.clone()
				for range 1 + r.IntN(keys/2+1) {
					key := fmt.Sprintf("k%05d", r.IntN(keys))
					if r.IntN(10) < 2+(step/50)%2*6 { // phases of mostly growing and of mostly shrinking
						now.put(key, nil)
						delete(twin, key)
					} else {
						now.put(key, &storage.Object{Key: key, Revision: int64(step)})
						twin[key] = int64(step)
					}
				}
				if step%20 == 0 {
					old = append(old, shown{now, listedMap(twin, "", "")})
				}
				prefix, from := fmt.Sprintf("k%05d", r.IntN(keys))[:1+r.IntN(5)], fmt.Sprintf("k%05d", r.IntN(keys))
				want := listedMap(twin, prefix, from)
				if diff := cmp.Diff(want, listed(now, prefix, from)); diff != "" {
					t.Fatalf("step %d: %s from %s (-twin +tree):\n%s", step, prefix, from, diff)
				}
				if n := now.count(prefix, from); n != len(want) || now.length() != len(twin) {
					t.Fatalf("step %d: count of %s from %s is %d, not %d", step, prefix, from, n, len(want))
				}
				rev, known := twin[from]
				if o := now.get(from); (o != nil) != known || known && o.Revision != rev {
					t.Fatalf("step %d: get of %s is %v", step, from, o)
				}
			}
			for i, s := range old {
				if diff := cmp.Diff(s.want, listed(s.tree, "", "")); diff != "" {
					t.Fatalf("tree %d changed after it was shown (-then +now):\n%s", i, diff)
				}
			}
		})
	}
}

// TestScanStopsWhenYieldReturnsFalse: no object is read after yield has returned false.
func TestScanStopsWhenYieldReturnsFalse(t *testing.T) {
	objects := newTree()
	for i := range 200 {
		key := fmt.Sprintf("%03d", i)
		objects.put(key, &storage.Object{Key: key})
	}
	var got []string
	for o := range objects.scan("", "098") {
		if got = append(got, o.Key); len(got) == 3 {
			break
		}
	}
	if diff := cmp.Diff([]string{"098", "099", "100"}, got); diff != "" {
		t.Error(diff)
	}
}
