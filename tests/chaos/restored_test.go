package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

const (
	// trees are owners with two dependents each, of which the second has the next tree's owner, too.
	trees = 12
	// worked is how long clients work between the steps of the restoration.
	worked = 3 * time.Second
)

// TestRestored restores an earlier state of etcd while the servers run. A server may recover or end, as long as it, or
// the next process, soon shows what etcd holds. The collector must not delete an object that has a solid owner now
// because of its memory of the time after the backup.
func TestRestored(t *testing.T) {
	if *duration == 0 {
		t.Skip("it is a part of make chaos")
	}
	for _, c := range []struct {
		name string
		// backUp keeps the state; restore puts it back, and returns the revision that history begins with then.
		backUp func(*world) (restore func() (first int64))
	}{
		{"same cluster", (*world).copyData},
		{"another cluster", (*world).copyKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			restored(t, c.backUp)
		})
	}
}

func restored(t *testing.T, backUp func(*world) func() int64) {
	w := newWorld(t, 2)
	r := rand.New(rand.NewPCG(*seed, 3))
	w.namespaces(r)
	w.plant(r)
	w.work(2)
	restore := backUp(w)
	for i := range trees {
		w.must(r, request{verb: check.Delete, key: tree(i), policy: policies[i%len(policies)]})
	}
	w.work(3)
	w.verdict()
	w.begin(restore())
	for i := range trees {
		for j := range 2 { // so that the collector processes each
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

// must sends a request to any server until it is acknowledged.
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

// copyData copies the members' data while they are down. Put back, it is the same cluster at an older revision.
func (w *world) copyData() (restore func() int64) {
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
	return func() int64 {
		w.t.Helper()
		w.swap(func(m *member) error { return m.replace(m.Dir + ".backup") })
		w.inject("restore", fmt.Sprintf("at %d", now.now))
		return now.now
	}
}

// copyKeys reads all keys. Put back, they are in another cluster, which is at a greater revision, as after etcdutl
// snapshot restore --bump-revision. Servers don't reach it before it is complete.
func (w *world) copyKeys() (restore func() int64) {
	w.t.Helper()
	all, err := w.etcd.admin.Get(w.t.Context(), "\x00", clientv3.WithFromKey())
	if err != nil {
		w.t.Fatal(err)
	}
	w.inject("back up", fmt.Sprintf("at %d", all.Header.Revision))
	return func() int64 {
		w.t.Helper()
		last, err := w.state(w.t.Context(), 0)
		if err != nil {
			w.t.Fatal(err)
		}
		var paths []path
		for _, s := range w.servers {
			paths = append(paths, apart([]string{s.name}, names(w.etcd.members...))...)
		}
		w.etcd.net.set(hole, paths...)
		w.swap(func(m *member) error {
			m.Token += "-restored"
			return os.RemoveAll(m.Dir)
		})
		w.etcd.learn()
		first := w.fill(all.Kvs, last.now+100)
		w.inject("restore", fmt.Sprintf("%d keys, from revision %d to %d", len(all.Kvs), last.now, first))
		w.etcd.net.set(open, paths...)
		return first
	}
}

// fill writes keys, and something else until etcd's revision is beyond one. It returns the revision.
func (w *world) fill(keys []*mvccpb.KeyValue, beyond int64) (revision int64) {
	w.t.Helper()
	put := func(key, value string) {
		a, err := w.etcd.admin.Put(w.t.Context(), key, value)
		if err != nil {
			w.t.Fatal(err)
		}
		revision = a.Header.Revision
	}
	for _, kv := range keys {
		put(string(kv.Key), string(kv.Value))
	}
	for revision <= beyond {
		put("chaos/padding", "")
	}
	return revision
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

// begin begins a history with the state at a revision.
func (w *world) begin(first int64) {
	w.t.Helper()
	start, err := w.state(w.t.Context(), first)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h := check.History{First: first, Ready: map[string]int64{}}
	for _, key := range slices.Sorted(maps.Keys(start.objects)) {
		h.Start = append(h.Start, check.Event{Revision: start.versions[key], Key: key, Object: start.objects[key]})
	}
	slices.SortFunc(h.Start, func(a, b check.Event) int { return cmp.Compare(a.Revision, b.Revision) })
	for _, d := range w.h.Writes { // which may still be carried out
		if d.Verb == check.Delete && d.Outcome == check.Ambiguous {
			h.Writes = append(h.Writes, d)
		}
	}
	w.h, w.recorded = h, first
	w.known.forget()
}

// caughtUpWithEtcd waits until a server shows the state of etcd, and serves writes.
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
