package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubecascade/kubecascade/storage"
)

// maxValue is about etcd's limit for a request.
const maxValue = 1536 << 10

// Twin is a Store in memory that behaves as etcd does, but nothing expires. It keeps all history and computes a state
// from it whenever one is needed. Revisions begin with 1, as etcd's do.
type Twin struct {
	mu                  sync.Mutex // guards the fields below
	history             []storage.Event
	revision, compacted int64
	// epoch is how often followers had to start again.
	epoch int
	// lost is an ErrSetBack once the twin was set back.
	lost error
	// changed is closed, and replaced, when followers have something to read.
	changed chan struct{}
}

var _ storage.Store = (*Twin)(nil)

// NewTwin returns an empty store whose root is /registry.
func NewTwin() *Twin {
	return &Twin{revision: 1, changed: make(chan struct{})}
}

// at returns the state at a revision, in the order of keys.
func (w *Twin) at(rev int64) []storage.Record {
	state := map[string]storage.Record{}
	for _, ev := range w.history {
		switch {
		case ev.Revision > rev:
		case ev.Value == nil:
			delete(state, ev.Key)
		default:
			state[ev.Key] = storage.Record{Key: ev.Key, Value: ev.Value, ModRevision: ev.Revision}
		}
	}
	return slices.SortedFunc(maps.Values(state), func(a, b storage.Record) int { return cmp.Compare(a.Key, b.Key) })
}

// get returns the newest record; its ModRevision is 0 if there is none.
func (w *Twin) get(key string) storage.Record {
	for _, ev := range slices.Backward(w.history) {
		if ev.Key == key {
			if ev.Value == nil {
				break
			}
			return storage.Record{Key: key, Value: ev.Value, ModRevision: ev.Revision}
		}
	}
	return storage.Record{Key: key}
}

// write appends an event of the next revision.
func (w *Twin) write(key string, value []byte) {
	w.revision++
	w.history = append(w.history, storage.Event{Key: key, Value: value, Revision: w.revision})
	w.wake()
}

func (w *Twin) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *Twin) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	w.mu.Lock()
	if w.lost != nil {
		w.mu.Unlock()
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, w.lost)
	}
	return nil
}

// Get implements Store.
func (w *Twin) Get(ctx context.Context, key string) (storage.Record, error) {
	if err := w.lock(ctx); err != nil {
		return storage.Record{}, err
	}
	defer w.mu.Unlock()
	if r := w.get(key); r.ModRevision != 0 {
		return r, nil
	}
	return storage.Record{}, fmt.Errorf("%w: %s", storage.ErrNotFound, key)
}

// List implements Store.
func (w *Twin) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	if err := w.lock(ctx); err != nil {
		return storage.Page{}, err
	}
	defer w.mu.Unlock()
	p := storage.Page{Revision: cmp.Or(r.Revision, w.revision)}
	switch {
	case p.Revision > w.revision:
		return storage.Page{}, storage.ErrFuture
	case p.Revision < w.compacted:
		return storage.Page{}, storage.ErrCompacted
	}
	for _, rec := range w.at(p.Revision) {
		switch {
		case !strings.HasPrefix(rec.Key, r.Prefix) || rec.Key < r.From || r.End != "" && rec.Key >= r.End:
		case r.Limit > 0 && int64(len(p.Records)) == r.Limit:
			p.More = true
			p.Remaining++
		default:
			p.Records = append(p.Records, rec)
		}
	}
	return p, nil
}

// Commit implements Store.
func (w *Twin) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	if err := w.lock(ctx); err != nil {
		return 0, err
	}
	defer w.mu.Unlock()
	if len(t.Value) > maxValue {
		return 0, storage.ErrTooLarge
	}
	current := w.get(t.Key)
	if current.ModRevision != t.Expect {
		return 0, &storage.ConflictError{Current: current, Revision: w.revision}
	}
	for _, g := range t.Guards {
		found := w.get(g.Key).ModRevision
		holds := found == g.ModRevision
		switch {
		case g.Below:
			found = w.newest(g.Key)
			holds = found <= g.ModRevision
		case g.Held:
			holds = w.created(g.Key) <= g.ModRevision
		}
		if !holds {
			guard := &storage.Guard{Key: g.Key, ModRevision: found, Below: g.Below, Held: g.Held}
			return 0, &storage.ConflictError{Current: current, Guard: guard, Revision: w.revision}
		}
	}
	switch {
	case t.Value != nil:
		w.write(t.Key, append([]byte{}, t.Value...))
	case current.ModRevision != 0:
		w.write(t.Key, nil)
	}
	return w.revision, nil
}

// created returns the create revision of the key, 0 if it doesn't exist; w.mu is held.
func (w *Twin) created(key string) (rev int64) {
	for _, ev := range w.history {
		switch {
		case ev.Key != key:
		case ev.Value == nil:
			rev = 0
		case rev == 0:
			rev = ev.Revision
		}
	}
	return rev
}

// newest returns the latest mod revision under the prefix; w.mu is held.
func (w *Twin) newest(prefix string) (rev int64) {
	for _, rec := range w.at(w.revision) {
		if strings.HasPrefix(rec.Key, prefix) {
			rev = max(rev, rec.ModRevision)
		}
	}
	return rev
}

// Revision implements Store.
func (w *Twin) Revision(ctx context.Context) (int64, error) {
	if err := w.lock(ctx); err != nil {
		return 0, err
	}
	defer w.mu.Unlock()
	return w.revision, nil
}

// Compact implements Store.
func (w *Twin) Compact(ctx context.Context, rev int64) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.mu.Unlock()
	if rev > w.revision {
		return storage.ErrFuture
	}
	w.compacted = max(w.compacted, rev)
	return nil
}

// Restart makes all followers start again with the whole state, as if the history that they need was compacted.
func (w *Twin) Restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epoch++
	w.wake()
}

// SetBack acts as if an older backup was restored: all requests fail from then on, and followers end.
func (w *Twin) SetBack() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = storage.ErrSetBack
	w.wake()
}

// Follow implements Store.
func (w *Twin) Follow(ctx context.Context, sink func(storage.Batch) error) error {
	var reached int64
	epoch := -1
	for ctx.Err() == nil {
		w.mu.Lock()
		if w.lost != nil {
			w.mu.Unlock()
			return w.lost
		}
		changed := w.changed
		b := storage.Batch{Reset: epoch != w.epoch, Revision: w.revision}
		epoch = w.epoch
		if b.Reset {
			for _, r := range w.at(w.revision) {
				b.Events = append(b.Events, storage.Event{Key: r.Key, Value: r.Value, Revision: r.ModRevision})
			}
		} else {
			i, _ := slices.BinarySearchFunc(w.history, reached+1, func(ev storage.Event, rev int64) int {
				return cmp.Compare(ev.Revision, rev)
			})
			b.Events = slices.Clone(w.history[i:])
		}
		w.mu.Unlock()
		b.Events = slices.DeleteFunc(b.Events, func(ev storage.Event) bool {
			return !strings.HasPrefix(ev.Key, storage.DefaultRoot+"/")
		})
		if b.Reset || b.Revision > reached {
			if err := sink(b); err != nil {
				return err
			}
			reached = b.Revision
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}
