package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/conformance/chaos/check"
)

const (
	// trees are owners with two dependents each, of which the second has the next tree's owner, too.
	trees = 12
	// worked is how long clients work between the steps of the restoration.
	worked = 3 * time.Second
)

// TestRestored sets the whole cluster back to a backup while the servers run. A server may recover or end, as long as
// it, or the next process, soon shows what etcd holds. What the collector remembers of the time after the backup must
// not cost an object that has a solid owner now.
func TestRestored(t *testing.T) {
	if *duration == 0 {
		t.Skip("it is a part of make chaos")
	}
	t.Parallel()
	look(t)
	w := newWorld(t, 2)
	r := rand.New(rand.NewPCG(*seed, 3))
	w.namespaces(r)
	w.plant(r)
	w.work(2)
	at := w.backUp()
	for i := range trees {
		w.must(r, request{verb: check.Delete, key: tree(i), policy: policies[i%len(policies)]})
	}
	w.work(3)
	w.verdict()
	w.restore(at)
	for i := range trees {
		for j := range 2 { // so that the collector looks at each
			w.must(r, request{verb: check.Patch, key: leaf(i, j), keepOwners: true})
		}
	}
	for _, s := range w.servers {
		w.caughtUpWithEtcd(s)
	}
	for _, e := range w.exits {
		t.Logf("after the restoration: %s", e)
	}
	w.exits = nil
	for i := range trees / 2 {
		w.must(r, request{verb: check.Delete, key: tree(2 * i), policy: "Background"})
	}
	w.work(4)
	w.verdict()
}

func tree(i int) string    { return fmt.Sprintf("%stree-%d", prefixes()[0], i) }
func leaf(i, j int) string { return fmt.Sprintf("%sleaf-%d-%d", prefixes()[0], i, j) }

// plant creates the trees.
func (w *world) plant(r *rand.Rand) {
	w.t.Helper()
	refs := make([]reference, 0, trees)
	for i := range trees {
		w.must(r, request{verb: check.Create, key: tree(i)})
		refs = append(refs, w.refer(tree(i))...)
	}
	for i := range trees {
		w.must(r, request{verb: check.Create, key: leaf(i, 0), owners: refs[i : i+1]})
		w.must(r, request{verb: check.Create, key: leaf(i, 1), owners: []reference{refs[i], refs[(i+1)%trees]}})
	}
}

// must makes a request, until it is acknowledged, of any server.
func (w *world) must(r *rand.Rand, q request) {
	w.t.Helper()
	await(w.t, fmt.Sprintf("%s of %s", q.verb, q.key), func(ctx context.Context) error {
		id, base, ok := w.pick(ctx, r)
		if !ok {
			return errors.New("no server is ready")
		}
		if o := w.write(ctx, id, base, q); o.Outcome != check.Acknowledged {
			return fmt.Errorf("it is %s", o)
		}
		return nil
	})
}

// work has clients work for a while.
func (w *world) work(stream uint64) {
	w.t.Helper()
	stop := w.load(stream)
	pause(w.t.Context(), worked)
	stop()
}

// backUp copies the members' data while they are down, and returns a revision that all of them have.
func (w *world) backUp() (at int64) {
	w.t.Helper()
	now, err := w.state(w.t.Context(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.swap(func(m *member) error { return m.save(m.Dir + ".backup") })
	w.inject("back up", fmt.Sprintf("at %d or a little later", now.now))
	for _, s := range w.servers {
		w.serves(s)
	}
	return now.now
}

// swap does something to each member's data while all are down.
func (w *world) swap(change func(*member) error) {
	w.t.Helper()
	for _, m := range w.etcd.members {
		m.kill()
	}
	for _, m := range w.etcd.members {
		if err := change(m); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, m := range w.etcd.members {
		m.start(w.t)
	}
	w.etcd.whole()
}

// restore sets the cluster back to the backup, and begins a history that starts with the state at a revision of before.
func (w *world) restore(at int64) {
	w.t.Helper()
	last, err := w.state(w.t.Context(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.swap(func(m *member) error { return m.replace(m.Dir + ".backup") })
	restored, err := w.state(w.t.Context(), at)
	if err != nil {
		w.t.Fatal(err)
	}
	w.inject("restore", fmt.Sprintf("from %d to %d", last.now, restored.now))
	w.mu.Lock()
	defer w.mu.Unlock()
	h := check.History{First: at, Ready: map[string]int64{}}
	for _, key := range slices.Sorted(maps.Keys(restored.objects)) {
		h.Start = append(h.Start, check.Event{Revision: restored.versions[key], Key: key, Object: restored.objects[key]})
	}
	slices.SortFunc(h.Start, func(a, b check.Event) int { return int(a.Revision - b.Revision) })
	for _, d := range w.h.Writes { // which may still be carried out
		if d.Verb == check.Delete && d.Outcome == check.Ambiguous {
			h.Writes = append(h.Writes, d)
		}
	}
	w.h, w.recorded = h, at
	w.known.forget()
}

// caughtUpWithEtcd waits until a server shows what etcd holds, and writes.
func (w *world) caughtUpWithEtcd(s *server) {
	w.t.Helper()
	began := time.Now()
	err := within(w.t, patience, func(ctx context.Context) error {
		id, base, ok := s.current()
		if !ok {
			return errors.New("it isn't ready: " + s.log())
		}
		for _, prefix := range prefixes() {
			if err := w.shows(ctx, id, base, prefix); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatalf("%v after the restoration, %s does not show what etcd holds: %v", patience, s.name, err)
	}
	w.t.Logf("%s shows what etcd holds %v after it was looked at", s.name, time.Since(began).Round(time.Millisecond))
	w.serves(s)
}

// shows compares a list with etcd, without writing it down.
func (w *world) shows(ctx context.Context, id, base, prefix string) error {
	l := w.pages(ctx, id, base, prefix, check.Default, url.Values{})
	if l == nil {
		return errors.New("it doesn't list " + prefix)
	}
	now, err := w.state(ctx, 0)
	if err != nil {
		return err
	}
	if l.Revision > now.now {
		return fmt.Errorf("it lists %s at revision %d, etcd is at %d", prefix, l.Revision, now.now)
	}
	then, err := w.state(ctx, l.Revision)
	if err != nil {
		return err
	}
	maps.DeleteFunc(then.versions, func(key string, _ int64) bool { return !strings.HasPrefix(key, prefix) })
	have := map[string]int64{}
	for _, v := range l.Versions {
		have[v.Key] = v.Revision
	}
	if !maps.Equal(have, then.versions) {
		return fmt.Errorf("at %d it lists %d objects of %s, etcd has %d", l.Revision, len(have), prefix, len(then.versions))
	}
	return nil
}
