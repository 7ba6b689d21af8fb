package storagetest

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
)

var steps = flag.Int("steps", 1500, "operations of TestTwinRespondsAsEtcd; fewer make a failure shorter")

// TestTwinRespondsAsEtcd carries out the same random operations on the twin and on etcd. All answers must be
// the same, revisions included, and so must the timelines.
func TestTwinRespondsAsEtcd(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed.Of(t), 0))
	twin, etcd := NewTwin(), Open(t)
	lines := []*Timeline{Watch(t, twin), Watch(t, etcd)}
	for _, l := range lines {
		l.WaitForReset(1)
	}
	g := generator{Rand: rng}
	for i := range *steps {
		op := g.next()
		want, got := op.do(t, twin), op.do(t, etcd)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("step %d: %s (-twin +etcd):\n%s", i, op.name, diff)
		}
		g.learn(want)
	}
	// Only what Revision has returned is reached for certain (guarantee 7): the last write may be of another root.
	for i, s := range []storage.Store{twin, etcd} {
		rev, err := s.Revision(t.Context())
		if err != nil || rev < g.revision {
			t.Fatalf("revision %d after %d: %v", rev, g.revision, err)
		}
		lines[i].WaitFor(rev)
	}
	if diff := cmp.Diff(lines[0].Events(), lines[1].Events()); diff != "" {
		t.Errorf("timelines (-twin +etcd):\n%s", diff)
	}
}

// answer has all results of an operation. Errors are their sentinels.
type answer struct {
	Record   storage.Record
	Page     storage.Page
	Revision int64
	Conflict *storage.ConflictError
	Err      string
}

type operation struct {
	name string
	call func(*testing.T, storage.Store, *answer) error
}

func (o operation) do(t *testing.T, s storage.Store) (a answer) {
	err := o.call(t, s, &a)
	if errors.As(err, &a.Conflict) {
		return a
	}
	for _, sentinel := range []error{storage.ErrNotFound, storage.ErrCompacted, storage.ErrFuture} {
		if errors.Is(err, sentinel) {
			a.Err = sentinel.Error()
			return a
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	return a
}

// generator makes operations that often, but not always, name what is there.
type generator struct {
	*rand.Rand
	revision int64
	known    map[string]int64
}

// learn notes what is known of the store.
func (g *generator) learn(a answer) {
	if g.known == nil {
		g.known = map[string]int64{}
	}
	g.revision = max(g.revision, a.Revision, a.Page.Revision)
	records := append([]storage.Record{a.Record}, a.Page.Records...)
	if a.Conflict != nil {
		records = append(records, a.Conflict.Current)
	}
	for _, r := range records {
		if r.Key != "" && a.Page.Revision == g.revision || r.ModRevision > g.known[r.Key] {
			g.known[r.Key] = r.ModRevision
		}
	}
}

func (g *generator) key() string {
	prefix := []string{"/registry/pods/a/", "/registry/pods/b/", "/registry/nodes/", "/other/"}[g.IntN(4)]
	return prefix + string(rune('a'+g.IntN(6)))
}

func (g *generator) expect(k string) int64 {
	switch g.IntN(10) {
	case 0:
		return 0
	case 1:
		return g.Int64N(g.revision + 3)
	}
	return g.known[k]
}

func (g *generator) next() operation {
	switch n := g.IntN(20); {
	case n < 10:
		return g.commit()
	case n < 13:
		k := g.key()
		return operation{"get " + k, func(t *testing.T, s storage.Store, a *answer) (err error) {
			a.Record, err = s.Get(t.Context(), k)
			return err
		}}
	case n < 17:
		return g.list()
	case n < 19:
		return operation{"revision", func(t *testing.T, s storage.Store, a *answer) (err error) {
			a.Revision, err = s.Revision(t.Context())
			return err
		}}
	}
	rev := max(1, g.revision-g.Int64N(200)+2)
	return operation{fmt.Sprint("compact ", rev), func(t *testing.T, s storage.Store, a *answer) error {
		return s.Compact(t.Context(), rev)
	}}
}

func (g *generator) commit() operation {
	k := g.key()
	txn := storage.Txn{Key: k, Expect: g.expect(k)}
	if g.IntN(3) > 0 {
		txn.Value = []byte(strings.Repeat(string(rune('a'+g.IntN(26))), g.IntN(20)))
	}
	for range g.IntN(3) {
		guard := g.key()
		txn.Guards = append(txn.Guards, storage.Guard{Key: guard, ModRevision: g.expect(guard)})
		last := &txn.Guards[len(txn.Guards)-1]
		switch g.IntN(4) {
		case 0:
			last.Key, last.Below = guard[:strings.LastIndex(guard, "/")+1], true
		case 1:
			last.Held = true
		}
	}
	return operation{fmt.Sprintf("commit %+v", txn), func(t *testing.T, s storage.Store, a *answer) (err error) {
		a.Record = storage.Record{Key: k}
		if a.Revision, err = s.Commit(t.Context(), txn); txn.Value != nil {
			a.Record.ModRevision = a.Revision
		}
		return err
	}}
}

func (g *generator) list() operation {
	r := storage.Range{Prefix: []string{"/registry/", "/registry/pods/", "/registry/pods/a/", "/o/"}[g.IntN(4)]}
	if g.IntN(2) == 0 {
		r.Limit = 1 + g.Int64N(5)
	}
	if g.IntN(3) == 0 {
		r.From = g.key() + []string{"", "\x00"}[g.IntN(2)]
	}
	if g.IntN(3) == 0 {
		r.End = g.key() + []string{"", "\x00"}[g.IntN(2)]
	}
	if g.IntN(3) == 0 {
		r.Revision = max(1, g.revision-g.Int64N(60)+2)
	}
	return operation{fmt.Sprintf("list %+v", r), func(t *testing.T, s storage.Store, a *answer) (err error) {
		a.Page, err = s.List(t.Context(), r)
		return err
	}}
}
