package past

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
)

// check checks the invariants of chunks.
func (k *chunks) check(t *testing.T) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	n, bytes, uses, revisions := 0, int64(0), map[*storage.Object]int{}, map[string][]int64{}
	for p, all := range k.places {
		revisions[p.prefix] = append(revisions[p.prefix], p.revision)
		if len(all) == 0 {
			t.Errorf("%v has an empty list", p)
		}
		for i, c := range all {
			n, bytes = n+1, bytes+c.size()
			for _, o := range c.objects {
				uses[o]++
			}
			if c.place != p || i > 0 && all[i-1].from >= c.from {
				t.Errorf("%v: %q is out of order", p, c.from)
			}
		}
	}
	for o := range uses {
		bytes += sizeOf(o)
	}
	for _, all := range revisions {
		slices.Sort(all)
	}
	if diff := cmp.Diff(revisions, k.revisions); diff != "" {
		t.Errorf("revisions (-of the places +kept):\n%s", diff)
	}
	if !maps.Equal(uses, k.uses) {
		t.Errorf("%d objects are used, want %d", len(k.uses), len(uses))
	}
	if n != k.used.Len() || bytes != k.bytes || bytes > k.bound || (n > 0) != (k.sweeper != nil) && n > 0 {
		t.Errorf("%d chunks of %d bytes, want %d of %d, at most %d", n, bytes, k.used.Len(), k.bytes, k.bound)
	}
}

// TestNeighbours compares the neighbours of random starts with those that a look at all places finds, while chunks are
// added and dropped.
func TestNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed.Of(t), 0))
	k := newChunks(40*2*overhead, time.Minute) // about 40 chunks
	random := func() start {
		p := fmt.Sprintf("/registry/configmaps/%d/", rng.IntN(3))
		return start{place{p, 1 + rng.Int64N(20)}, fmt.Sprint(p, rng.IntN(9))}
	}
	found := map[bool]int{}
	for range 2000 {
		c := &chunk{start: random(), objects: []*storage.Object{{}}}
		c.next = c.from + "5" // it covers the start's key, and no other
		switch rng.IntN(20) {
		case 0:
			k.forget(c.place)
		case 1:
			c.next = ""
		}
		k.add(c)
		k.check(t)
		s := random()
		earlier, later := k.neighbours(s)
		wantEarlier, wantLater := k.neighboursOfAll(s)
		if earlier.place != wantEarlier || later.place != wantLater {
			t.Fatalf("%v: %v and %v, want %v and %v", s, earlier.place, later.place, wantEarlier, wantLater)
		}
		found[wantEarlier != place{}]++
		found[wantLater != place{}]++
	}
	if found[false] == 0 || found[true] == 0 {
		t.Errorf("%v have a neighbour", found)
	}
}

// neighboursOfAll is what neighbours should find.
func (k *chunks) neighboursOfAll(s start) (earlier, later place) {
	for p := range k.places {
		if c := k.before(start{p, s.from}); p.prefix != s.prefix || c == nil || !c.covers(s.from) {
			continue
		}
		if p.revision < s.revision && p.revision > earlier.revision {
			earlier = p
		}
		if p.revision > s.revision && (later.revision == 0 || p.revision < later.revision) {
			later = p
		}
	}
	return earlier, later
}
