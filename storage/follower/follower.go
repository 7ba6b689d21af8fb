package follower

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/kubecascade/kubecascade/storage/cache"
)

// Follower keeps what its owner derives from some collections as new as the cache, without a goroutine. Its methods may
// be called from any goroutine.
type Follower struct {
	cache       *cache.Cache
	collections []string
	// shown is the revision up to which the owner has all events.
	shown atomic.Int64
	// mu guards the watchers. It is held while the owner is updated.
	mu       sync.Mutex
	watchers []*cache.Watcher
}

// New returns a Follower of the collections, whose owner has no objects yet.
func New(c *cache.Cache, collections ...string) *Follower {
	return &Follower{cache: c, collections: collections}
}

// CatchUp brings the owner up to the cache's current revision. It calls apply with the new events of each collection,
// whose index in the collections is the first argument. In four cases it calls rebuild instead, with snapshots of all
// collections at one revision: in the first call, if apply returns false, if the history no longer has the events, and
// after an error. It waits only for another call of CatchUp.
func (f *Follower) CatchUp(
	apply func(collection int, events []*cache.Event) bool, rebuild func([]*cache.Snapshot) error,
) error {
	now := f.cache.Revision()
	if f.shown.Load() >= now {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shown.Load() >= now {
		return nil
	}
	shown, ok := f.poll(now, apply)
	if !ok {
		err := error(cache.ErrExpired)
		for errors.Is(err, cache.ErrExpired) { // history may be dropped in the meantime
			shown, err = f.rebuild(rebuild)
		}
		if err != nil {
			return err
		}
	}
	f.shown.Store(shown)
	return nil
}

// poll applies all pending events, and returns the revision after them. ok is false if the owner must be rebuilt.
func (f *Follower) poll(now int64, apply func(int, []*cache.Event) bool) (shown int64, ok bool) {
	for i, w := range f.watchers {
		for {
			events, rev, err := w.Poll()
			if err != nil || len(events) > 0 && !apply(i, events) {
				return 0, false
			}
			if len(events) == 0 {
				now = min(now, rev)
				break
			}
		}
	}
	return now, f.watchers != nil
}

// rebuild rebuilds the owner from one revision, and watches from there.
func (f *Follower) rebuild(rebuild func([]*cache.Snapshot) error) (rev int64, err error) {
	rev, f.watchers = f.cache.Revision(), nil
	watchers, snapshots := make([]*cache.Watcher, len(f.collections)), make([]*cache.Snapshot, len(f.collections))
	for i, c := range f.collections {
		if snapshots[i], err = f.cache.Snapshot(c, rev); err != nil {
			return 0, err
		}
		if watchers[i], err = f.cache.Watch(c, rev); err != nil {
			return 0, err
		}
	}
	if err := rebuild(snapshots); err != nil {
		return 0, err
	}
	f.watchers = watchers
	return rev, nil
}
