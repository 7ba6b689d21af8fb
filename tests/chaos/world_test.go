package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

// world has the state of a run: the cluster, the servers, and the recorded history.
type world struct {
	t       *testing.T
	start   time.Time
	etcd    *cluster
	servers []*server
	http    *http.Client
	known   *known

	mu sync.Mutex // guards the fields below
	h  check.History
	// answers counts the status codes of responses by verb. Connection errors count as 0.
	answers map[string]map[int]int
	// exits are the processes that ended without being stopped.
	exits []string
	// faults are the injected faults in order. count has their number by name.
	faults []string
	count  map[string]int
	// recovery is the longest time until all servers served again. slowest is the fault before it.
	recovery time.Duration
	slowest  string
	// recorded is the revision up to which Events is complete. more is closed and replaced when it increases.
	recorded int64
	more     chan struct{}
}

func newWorld(t *testing.T, servers int) *world {
	t.Helper()
	w := &world{t: t, start: time.Now(), answers: map[string]map[int]int{}, count: map[string]int{},
		more: make(chan struct{}), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}, known: newKnown()}
	w.h.Ready = map[string]int64{}
	t.Cleanup(w.logRepeat)
	w.etcd = startCluster(t)
	for i := range servers {
		w.servers = append(w.servers, w.serve(t, fmt.Sprintf("s%d", i)))
	}
	return w
}

// now returns the time on the history's clock.
func (w *world) now() time.Duration { return time.Since(w.start) }

// began records etcd's revision at or shortly after the time when a server process was ready.
func (w *world) began(id string) {
	go func() { // etcd may have lost its quorum again
		err := within(w.t, patience, func(ctx context.Context) error {
			a, err := w.etcd.admin.Get(ctx, "/")
			if err == nil {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.h.Ready[id] = a.Header.Revision
			}
			return err
		})
		_ = err // a process without an entry may have begun at any revision
	}()
}

// exited records that a server process has ended without being stopped.
func (w *world) exited(id, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exits = append(w.exits, fmt.Sprintf("%v %s ended: %s", w.now(), id, why))
}

func (w *world) answered(verb string, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answers[verb] == nil {
		w.answers[verb] = map[int]int{}
	}
	w.answers[verb][code]++
}

func (w *world) inject(name, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf("%7.3fs %s %s", w.now().Seconds(), name, what))
	w.count[name]++
}

// prefixes returns the collections that are written and read.
func prefixes() []string {
	var out []string
	for _, r := range resources {
		for _, n := range namespaces {
			out = append(out, r.name+"/"+n+"/")
		}
	}
	return out
}

// keyOf converts a key in etcd to one of the history. ok is false if the test does not write the key.
func keyOf(stored []byte) (key string, ok bool) {
	key, ok = strings.CutPrefix(string(stored), "/registry/")
	return key, ok && slices.ContainsFunc(prefixes(), func(p string) bool { return strings.HasPrefix(key, p) })
}

// stored decodes etcd's value.
func stored(value []byte) (*check.Object, error) {
	var o object
	if err := json.Unmarshal(value, &o); err != nil {
		return nil, fmt.Errorf("decoding %q: %w", value, err)
	}
	m := &o.Metadata
	c := &check.Object{UID: m.UID, Token: m.Annotations[annotation], Finalizers: m.Finalizers}
	c.Terminating = m.DeletionTimestamp != ""
	for _, r := range m.OwnerReferences {
		owner := check.Owner{Resource: resourceOf(r.Kind), Name: r.Name, UID: r.UID, Block: r.BlockOwnerDeletion}
		c.Owners = append(c.Owners, owner)
	}
	return c, nil
}

// record records etcd's events after the last recorded revision, until ctx ends.
func (w *world) record(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		from := w.recorded + 1
		w.mu.Unlock()
		stream, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
		for a := range w.etcd.admin.Watch(stream, "\x00", clientv3.WithFromKey(), clientv3.WithRev(from)) {
			if a.CompactRevision != 0 {
				w.t.Errorf("etcd has compacted events after %d before they were recorded", from)
				cancel()
				return
			}
			w.recordEvents(a.Events)
		}
		cancel()
	}
}

// recordEvents records the events that are not recorded yet.
func (w *world) recordEvents(events []*clientv3.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ev := range events {
		if ev.Kv.ModRevision <= w.recorded {
			w.t.Errorf("etcd's watch repeats revision %d", ev.Kv.ModRevision)
			continue
		}
		w.recorded = ev.Kv.ModRevision
		key, mine := keyOf(ev.Kv.Key)
		if !mine {
			continue
		}
		e := check.Event{Revision: ev.Kv.ModRevision, Key: key}
		if ev.Type == clientv3.EventTypePut {
			var err error
			if e.Object, err = stored(ev.Kv.Value); err != nil {
				w.t.Error(err)
				continue
			}
		}
		w.h.Events = append(w.h.Events, e)
	}
	close(w.more)
	w.more = make(chan struct{})
}

// state is the state of the test's collections in etcd.
type state struct {
	objects map[string]*check.Object
	// versions are the objects' revisions. now is etcd's revision at the time of the read.
	versions map[string]int64
	now      int64
}

// state reads the state of etcd at a revision; 0 means the newest.
func (w *world) state(ctx context.Context, at int64) (state, error) {
	a, err := w.etcd.admin.Get(ctx, "/registry/", clientv3.WithPrefix(), clientv3.WithRev(at))
	if err != nil {
		return state{}, err
	}
	s := state{map[string]*check.Object{}, map[string]int64{}, a.Header.Revision}
	for _, kv := range a.Kvs {
		if key, mine := keyOf(kv.Key); mine {
			if s.objects[key], err = stored(kv.Value); err != nil {
				return state{}, err
			}
			s.versions[key] = kv.ModRevision
		}
	}
	return s, nil
}

// awaitRecorded writes to etcd, and waits until this write, and so all earlier ones, are recorded.
func (w *world) awaitRecorded() {
	w.t.Helper()
	a, err := w.etcd.admin.Put(w.t.Context(), "chaos/marker", "")
	if err != nil {
		w.t.Fatal(err)
	}
	timeout := time.After(patience)
	for {
		w.mu.Lock()
		there, more := w.recorded >= a.Header.Revision, w.more
		w.mu.Unlock()
		if there {
			return
		}
		select {
		case <-more:
		case <-timeout:
			w.t.Fatalf("etcd's watch doesn't reach revision %d", a.Header.Revision)
		}
	}
}

// compareState checks that the state after all events is that of etcd, so the history is complete.
func (w *world) compareState() {
	w.t.Helper()
	now, err := w.state(w.t.Context(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	have := map[string]int64{}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.h.Events {
		if delete(have, e.Key); e.Object != nil {
			have[e.Key] = e.Revision
		}
	}
	if !maps.Equal(have, now.versions) {
		w.t.Fatalf("etcd's events and its state differ: %v, %v", have, now.versions)
	}
}
