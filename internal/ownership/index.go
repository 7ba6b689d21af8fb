package ownership

import (
	"errors"
	"slices"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// index finds the keys of objects by their uids, and by the uids of their owners. It holds no objects, so that it keeps
// no replaced ones in memory.
type index struct {
	watcher *cache.Watcher
	// uids and dependents have sorted full keys.
	uids, dependents map[string][]string
}

// newIndex returns the index of everything in the cache.
func newIndex(c *cache.Cache) (*index, error) {
	revision, all := c.Everything()
	watcher, err := c.Timeline(revision)
	if err != nil {
		return nil, err
	}
	objects := 0
	for _, s := range all {
		objects += s.Len()
	}
	x := &index{watcher: watcher, uids: make(map[string][]string, objects), dependents: map[string][]string{}}
	for _, s := range all {
		s.Ascend("", "", func(o *storage.Object) bool {
			x.add(o)
			return true
		})
	}
	return x, nil
}

// follow applies the events since the last call, and returns the revision of the index. Errors: cache.ErrExpired.
func (x *index) follow() (revision int64, err error) {
	for {
		events, revision, err := x.watcher.Poll()
		if err != nil || len(events) == 0 {
			return revision, err
		}
		for _, e := range events {
			if e.Prev != nil {
				x.remove(e.Prev)
			}
			if e.Type != cache.Deleted {
				x.add(e.Object)
			}
		}
	}
}

func (x *index) add(o *storage.Object) {
	insert(x.uids, o.Meta.UID, o.Key)
	for i := range o.Meta.Owners {
		insert(x.dependents, o.Meta.Owners[i].UID, o.Key)
	}
}

func (x *index) remove(o *storage.Object) {
	drop(x.uids, o.Meta.UID, o.Key)
	for i := range o.Meta.Owners {
		drop(x.dependents, o.Meta.Owners[i].UID, o.Key)
	}
}

func insert(keys map[string][]string, uid, key string) {
	have := keys[uid]
	if i, ok := slices.BinarySearch(have, key); !ok {
		keys[uid] = slices.Insert(have, i, key)
	}
}

func drop(keys map[string][]string, uid, key string) {
	have := keys[uid]
	i, ok := slices.BinarySearch(have, key)
	switch {
	case !ok:
	case len(have) == 1:
		delete(keys, uid)
	default:
		keys[uid] = slices.Delete(have, i, i+1)
	}
}

// current returns an index that is up to date, x if it can be, and its revision.
func (x *index) current(c *cache.Cache) (*index, int64, error) {
	for range attempts {
		if x == nil {
			var err error
			if x, err = newIndex(c); err != nil {
				return nil, 0, err
			}
		}
		revision, err := x.follow()
		if !errors.Is(err, cache.ErrExpired) {
			return x, revision, err
		}
		x = nil
	}
	return nil, 0, &cache.ExpiredError{Revision: c.Revision()}
}

// attempts is how often an index is made at most for one question: history may expire while it is made.
const attempts = 3
