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
func listed(n *node, prefix, from string) []string {
	got := []string{}
	n.scan(prefix, from, func(o *storage.Object) bool {
		got = append(got, fmt.Sprintf("%s@%d", o.Key, o.Revision))
		return true
	})
	return got
}

// listedMap is listed for the dumb twin of a tree.
func listedMap(m map[string]int64, prefix, from string) []string {
	got := []string{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if strings.HasPrefix(k, prefix) && k >= from {
			got = append(got, fmt.Sprintf("%s@%d", k, m[k]))
		}
	}
	return got
}

// TestTreeIsAMap puts and removes at random with ever new editors, as Apply does, and compares
// with a map; trees that were shown must never change.
func TestTreeIsAMap(t *testing.T) {
	for _, keys := range []int{3, 40, 400, 4000} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			seed := seed.Of(t)
			r := rand.New(rand.NewPCG(seed, 0))
			type shown struct {
				root *node
				want []string
			}
			var old []shown
			var root *node
			twin := map[string]int64{}
			for step := range 400 {
				e := newEditor()
				for range 1 + r.IntN(keys/2+1) {
					key := fmt.Sprintf("k%05d", r.IntN(keys))
					// Phases of mostly growing and of mostly shrinking reach every width.
					if r.IntN(10) < 2+(step/50)%2*6 {
						root = e.remove(root, key)
						delete(twin, key)
					} else {
						root = e.put(root, &storage.Object{Key: key, Revision: int64(step)})
						twin[key] = int64(step)
					}
				}
				if err := root.check(); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				if step%20 == 0 {
					old = append(old, shown{root, listedMap(twin, "", "")})
				}
				prefix, from := fmt.Sprintf("k%05d", r.IntN(keys))[:1+r.IntN(5)], fmt.Sprintf("k%05d", r.IntN(keys))
				want := listedMap(twin, prefix, from)
				if diff := cmp.Diff(want, listed(root, prefix, from)); diff != "" {
					t.Fatalf("step %d: %s from %s (-twin +tree):\n%s", step, prefix, from, diff)
				}
				if n := root.count(prefix, from); n != len(want) {
					t.Fatalf("step %d: count of %s from %s is %d, not %d", step, prefix, from, n, len(want))
				}
				rev, known := twin[from]
				if o := root.get(from); (o != nil) != known || known && o.Revision != rev {
					t.Fatalf("step %d: get of %s is %v", step, from, o)
				}
			}
			for i, s := range old {
				if diff := cmp.Diff(s.want, listed(s.root, "", "")); diff != "" {
					t.Fatalf("tree %d changed after it was shown (-then +now):\n%s", i, diff)
				}
			}
		})
	}
}

func TestTreeBuild(t *testing.T) {
	for n := range 3000 {
		if n > 200 && n%97 != 0 {
			continue
		}
		var sorted []*storage.Object
		for i := range n {
			sorted = append(sorted, &storage.Object{Key: fmt.Sprintf("%05d", i)})
		}
		root := newEditor().build(sorted)
		if err := root.check(); err != nil {
			t.Fatalf("%d objects: %v", n, err)
		}
		if root.length() != n || len(listed(root, "", "")) != n {
			t.Fatalf("built %d of %d objects", root.length(), n)
		}
	}
}

func TestTreeScanStops(t *testing.T) {
	e, root := newEditor(), (*node)(nil)
	for i := range 200 {
		root = e.put(root, &storage.Object{Key: fmt.Sprintf("%03d", i)})
	}
	var got []string
	root.scan("", "098", func(o *storage.Object) bool {
		got = append(got, o.Key)
		return len(got) < 3
	})
	if diff := cmp.Diff([]string{"098", "099", "100"}, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzTreeCount checks count against counting, with keys and prefixes of any bytes.
func FuzzTreeCount(f *testing.F) {
	f.Add("a/b\x00a/c\x00b/a", "a/", "a/c")
	f.Add("\xff\xff\x00\xff\x00\xfe", "\xff", "")
	f.Add("", "", "x")
	f.Fuzz(func(t *testing.T, keys, prefix, from string) {
		e, root, twin := newEditor(), (*node)(nil), map[string]int64{}
		for _, k := range strings.Split(keys, "\x00") {
			root, twin[k] = e.put(root, &storage.Object{Key: k}), 0
		}
		if err := root.check(); err != nil {
			t.Fatal(err)
		}
		want := listedMap(twin, prefix, from)
		if diff := cmp.Diff(want, listed(root, prefix, from)); diff != "" {
			t.Errorf("scan of %q from %q (-twin +tree):\n%s", prefix, from, diff)
		}
		if n := root.count(prefix, from); n != len(want) {
			t.Errorf("count of %q from %q is %d, not %d", prefix, from, n, len(want))
		}
	})
}
