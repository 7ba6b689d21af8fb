package cache

import (
	"context"
	"errors"
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

// twin is the cache in its simplest form: a map, and a list of all events since the last whole state.
type twin struct {
	revision, base int64
	atBase         map[string]twinObject
	now            map[string]twinObject
	events         []twinEvent
}

type twinObject struct {
	revision int64
	content  string
}

type twinEvent struct {
	typ      Type
	key      string
	revision int64
	content  string
}

// String is what shownEvent prints, without the state before.
func (e twinEvent) String() string {
	return fmt.Sprintf("%d %s %s", e.revision, e.typ, twinObject{e.revision, e.content}.shown(e.key))
}

func (o twinObject) shown(key string) string {
	return fmt.Sprintf("%s@%d %s", strings.TrimPrefix(key, root+"/"), o.revision, o.content)
}

func (w *twin) reset(objects map[string]twinObject, rev int64) {
	w.revision, w.base = rev, rev
	w.atBase, w.now, w.events = maps.Clone(objects), objects, nil
}

// put applies a change; without content it is a removal.
func (w *twin) put(key, content string, rev int64) {
	old, known := w.now[key]
	e := twinEvent{typ: Added, key: key, revision: rev, content: content}
	switch {
	case content == "":
		e.typ, e.content = Deleted, old.content
		delete(w.now, key)
	case known:
		e.typ = Modified
		fallthrough
	default:
		w.now[key] = twinObject{rev, content}
	}
	w.events = append(w.events, e)
	w.revision = rev
}

// at lists a collection at a revision by replaying everything.
func (w *twin) at(collection, prefix, from string, rev int64) []string {
	objects := maps.Clone(w.atBase)
	for _, e := range w.events {
		switch {
		case e.revision > rev:
		case e.typ == Deleted:
			delete(objects, e.key)
		default:
			objects[e.key] = twinObject{e.revision, e.content}
		}
	}
	list := []string{}
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if strings.HasPrefix(key, root+"/"+collection+"/") && strings.HasPrefix(key, prefix) && key >= from {
			list = append(list, objects[key].shown(key))
		}
	}
	return list
}

// since lists a collection's events after rev; all collections' for "".
func (w *twin) since(collection string, rev int64) []twinEvent {
	var list []twinEvent
	for _, e := range w.events {
		if c, _, _ := storage.Collection(root, e.key); e.revision > rev && (collection == "" || c == collection) {
			list = append(list, e)
		}
	}
	return list
}

// run is one random run: the cache, its twin, and watchers, whose remaining events the twin knows.
type run struct {
	t     *testing.T
	r     *rand.Rand
	o     Options
	cache *Cache
	twin  twin
	keys  int
	// exact reports whether history holds as many events as its limit allows, so that no event may expire earlier.
	exact    bool
	watchers []*twinWatcher
	expired  int
}

type twinWatcher struct {
	*Watcher
	collection string
	// read is the revision up to which everything was returned.
	read int64
}

var kinds = []string{"pods", "services/specs", "example.com/things"}

// TestCacheEqualsItsTwin plays random histories. To reduce a failure run it with its SEED again.
func TestCacheEqualsItsTwin(t *testing.T) {
	expired := 0
	for name, c := range map[string]struct {
		options Options
		keys    int
		exact   bool
		steps   int
	}{
		"roomy":          {Options{}, 30, true, 1500},
		"few events":     {Options{Events: 5, TimelineEvents: 11}, 8, false, 1500},
		"exact":          {Options{Events: 20, TimelineEvents: 1 << 20}, 8, true, 1500},
		"segments":       {Options{Events: 300, TimelineEvents: 500}, 100, false, 1500},
		"few bytes":      {Options{Bytes: 3000, TimelineBytes: 5000}, 30, false, 1500},
		"many keys":      {Options{}, 3000, true, 300},
		"few, many keys": {Options{Events: 200}, 3000, false, 300},
	} {
		t.Run(name, func(t *testing.T) {
			seed := seed.Of(t)
			o := c.options
			o.Decoder = storage.Decoder{Root: root}
			r := &run{t: t, r: rand.New(rand.NewPCG(seed, 0)), o: o, cache: New(o), keys: c.keys, exact: c.exact}
			r.play(c.steps)
			expired += r.expired
		})
	}
	if expired == 0 {
		t.Errorf("no watcher ever expired: the bounds were not tested")
	}
}

func (r *run) play(steps int) {
	r.reset()
	for step := range steps {
		switch n := r.r.IntN(100); {
		case n < 1:
			r.reset()
		case n < 50:
			r.apply()
		case n < 60:
			r.watch()
		case n < 85:
			r.poll()
		default:
			r.snapshot()
		}
		r.compare()
		if err := r.cache.check(); err != nil {
			r.t.Fatalf("step %d: invariant: %v", step, err)
		}
		if r.t.Failed() {
			r.t.Fatalf("in step %d", step)
		}
	}
}

func (r *run) key() string {
	return fmt.Sprintf("%s/%s/ns%d/%04d", root, kinds[r.r.IntN(len(kinds))], r.r.IntN(3), r.r.IntN(r.keys))
}

// reset applies a whole state: sometimes the same one, with some objects removed, changed and added.
func (r *run) reset() {
	rev := r.twin.revision + 1 + r.r.Int64N(20)
	objects := maps.Clone(r.twin.now)
	if objects == nil {
		objects = map[string]twinObject{}
	}
	for range r.r.IntN(r.keys) {
		if key := r.key(); r.r.IntN(2) == 0 {
			delete(objects, key)
		} else {
			objects[key] = twinObject{rev - r.r.Int64N(rev-r.twin.revision), fmt.Sprint("r", r.r.IntN(1000))}
		}
	}
	b := storage.Batch{Reset: true, Revision: rev}
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		o := objects[key]
		b.Events = append(b.Events, storage.Event{Key: key, Revision: o.revision, Value: value(key, o.content)})
	}
	r.twin.reset(objects, rev)
	r.take(b)
}

// apply applies a batch of changes, and sometimes an earlier one.
func (r *run) apply() {
	var b storage.Batch
	if r.r.IntN(8) == 0 {
		for _, e := range r.twin.events[max(0, len(r.twin.events)-r.r.IntN(5)):] {
			again := storage.Event{Key: e.key, Revision: e.revision, Value: value(e.key, e.content)}
			if e.typ == Deleted {
				again.Value = nil
			}
			b.Events = append(b.Events, again)
		}
	}
	rev := r.twin.revision
	for range r.r.IntN(1 + r.r.IntN(30)) {
		rev += 1 + r.r.Int64N(2)
		key := r.key()
		if _, known := r.twin.now[key]; known && r.r.IntN(5) < 2 {
			b.Events = append(b.Events, storage.Event{Key: key, Revision: rev})
			r.twin.put(key, "", rev)
			continue
		}
		content := fmt.Sprint("c", r.r.IntN(1000))
		b.Events = append(b.Events, storage.Event{Key: key, Revision: rev, Value: value(key, content)})
		r.twin.put(key, content, rev)
	}
	r.twin.revision = rev + r.r.Int64N(2)
	b.Revision = r.twin.revision
	r.take(b)
}

func (r *run) take(b storage.Batch) {
	if err := r.cache.Apply(b); err != nil {
		r.t.Fatal(err)
	}
}

// since returns a revision in or near the history. A collection's events are some five revisions apart.
func (r *run) since() int64 {
	return max(1, r.twin.revision+3-r.r.Int64N(1+r.r.Int64N(int64(400+8*r.o.Events))))
}

// mayExpire reports whether the events after rev may have been dropped.
func (r *run) mayExpire(collection string, rev int64) bool {
	if rev < r.twin.base {
		return true
	}
	most := r.cache.each.events
	if collection == "" {
		most = r.cache.line.events
	}
	return !r.exact || len(r.twin.since(collection, rev)) > most
}

// mustExpire reports whether the events after rev can't be in the history.
func (r *run) mustExpire(collection string, rev int64) bool {
	most := r.cache.each.events
	if collection == "" {
		most = r.cache.line.events
	}
	return rev < r.twin.base || len(r.twin.since(collection, rev)) > most
}

func (r *run) check(err error, what, collection string, rev int64) {
	switch {
	case err != nil && !errors.Is(err, ErrExpired):
		r.t.Errorf("%s of %q at %d: %v", what, collection, rev, err)
	case err != nil && !r.mayExpire(collection, rev):
		r.t.Errorf("%s of %q at %d of %d: expired too early", what, collection, rev, r.twin.revision)
	case err == nil && r.mustExpire(collection, rev):
		r.t.Errorf("%s of %q at %d of %d: should have expired", what, collection, rev, r.twin.revision)
	}
}

func (r *run) watch() {
	rev := r.since()
	w := &twinWatcher{read: rev}
	var err error
	if i := r.r.IntN(len(kinds) + 2); i < len(kinds) {
		w.collection = kinds[i]
		w.Watcher, err = r.cache.Watch(w.collection, rev)
	} else {
		w.Watcher, err = r.cache.Timeline(rev)
	}
	r.check(err, "watch", w.collection, rev)
	if err == nil {
		r.watchers = append(r.watchers, w)
	}
}

func (r *run) poll() {
	if len(r.watchers) == 0 {
		return
	}
	i := r.r.IntN(len(r.watchers))
	w := r.watchers[i]
	ready, before := isClosed(w.Changed()), w.Progress()
	events, rev, err := w.Poll()
	// Whether what it had not read was dropped in a Reset can't be seen from revisions alone when
	// it waits for one in the future.
	if err == nil || w.read <= r.twin.base {
		r.check(err, "poll", w.collection, max(w.read, before))
	}
	if err != nil {
		r.expired++
		r.watchers = slices.Delete(r.watchers, i, i+1)
		return
	}
	var got, want []string
	for _, e := range events {
		got = append(got, strings.Split(shownEvent(e), ", was")[0])
	}
	waiting := r.twin.since(w.collection, w.read)
	for _, e := range waiting[:min(len(waiting), max(len(got), minRun-1))] {
		want = append(want, e.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("events of %q after %d (-twin +cache):\n%s", w.collection, w.read, diff)
	}
	if len(events) > 0 && !ready {
		r.t.Errorf("watcher of %q had %d events and was not woken", w.collection, len(events))
	}
	if rev < before || rev != w.Progress() {
		r.t.Errorf("progress of %q went from %d over %d to %d", w.collection, before, rev, w.Progress())
	}
	if len(events) == len(waiting) && rev != max(w.read, r.twin.revision) {
		r.t.Errorf("watcher of %q has returned all, but is complete only up to %d of %d", w.collection, rev, r.twin.revision)
	}
	w.read = rev
}

func (r *run) snapshot() {
	collection, rev := kinds[r.r.IntN(len(kinds))], min(r.since(), r.twin.revision)
	s, err := r.cache.Snapshot(collection, rev)
	r.check(err, "snapshot", collection, rev)
	if err != nil {
		return
	}
	prefix := fmt.Sprintf("%s/%s/", root, collection)
	if r.r.IntN(2) == 0 {
		prefix += fmt.Sprintf("ns%d/", r.r.IntN(4))
	}
	from := ""
	if r.r.IntN(2) == 0 {
		from = r.key()
	}
	got := []string{}
	for o := range s.Ascend(prefix, from) {
		got = append(got, shown(o))
	}
	want := r.twin.at(collection, prefix, from, rev)
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("%s from %s at %d (-twin +cache):\n%s", prefix, from, rev, diff)
	}
	if n := s.Count(prefix, from); n != len(want) {
		r.t.Errorf("%s from %s at %d: counted %d, not %d", prefix, from, rev, n, len(want))
	}
	if n := len(r.twin.at(collection, "", "", rev)); n != s.Len() || s.Revision() != rev {
		r.t.Errorf("%s at %d: %d objects at %d, not %d", collection, rev, s.Len(), s.Revision(), n)
	}
}

// compare checks the newest state.
func (r *run) compare() {
	rev, all := r.cache.Everything()
	if rev != r.twin.revision || r.cache.Revision() != rev {
		r.t.Fatalf("revision %d, not %d", rev, r.twin.revision)
	}
	if err := r.cache.Wait(context.Background(), rev); err != nil {
		r.t.Error(err)
	}
	n := 0
	for _, s := range all {
		n += s.Len()
	}
	if n != len(r.twin.now) {
		r.t.Errorf("%d objects, not %d", n, len(r.twin.now))
	}
	key := r.key()
	want, known := r.twin.now[key]
	switch o, at := r.cache.Get(key); {
	case at != rev || known != (o != nil):
		r.t.Errorf("%s is %s at %d, not %v at %d", key, shown(o), at, want, rev)
	case known && shown(o) != want.shown(key):
		r.t.Errorf("%s is %s, not %s", key, shown(o), want.shown(key))
	}
}
