package checkpoint

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// commitsAtOnce is the number of objects that Restore writes concurrently.
const commitsAtOnce = 64

// State is all that was stored at a revision.
type State struct {
	Revision int64
	objects  []*cache.Snapshot
}

// Restorer brings a store back to an earlier State.
type Restorer struct {
	Store    *storage.Etcd
	Timeline *Timeline
	Types    *resources.Types
	// Root is the prefix of all keys.
	Root string
	// Seal encrypts a value as the server stores it.
	Seal func(key string, value []byte) ([]byte, error)
	// EventTTL is the TTL of objects that expire.
	EventTTL time.Duration
}

// State returns the state with every write that was acknowledged before the call.
func (r *Restorer) State(ctx context.Context) (*State, error) {
	revision, err := r.Store.Revision(ctx)
	if err == nil {
		err = r.Timeline.Cache.Wait(ctx, revision)
	}
	if err != nil {
		return nil, err
	}
	s := &State{}
	s.Revision, s.objects = r.Timeline.Cache.Everything()
	return s, nil
}

// Restore writes the objects that differ from the state, and returns their number. In the meantime the store carries
// out no request, and the cache does not change: a reader of either sees all of these writes, or none. restored is
// called before a reader can see them. The state then has the new revisions, so that the next call writes only objects
// that have changed since this one.
func (r *Restorer) Restore(s *State, restored func()) (changed int, err error) {
	return changed, r.Store.Exclude(func(x *storage.Exclusive) error {
		if err := r.Timeline.Cache.Wait(x.Life(), x.Revision()); err != nil {
			return err
		}
		_, now := r.Timeline.Cache.Everything()
		changes, bytes := changesBetween(s.objects, now)
		if err := x.Admit(bytes); err != nil {
			return err
		}
		r.Timeline.hold()
		var commits errgroup.Group
		commits.SetLimit(commitsAtOnce)
		for _, c := range changes {
			commits.Go(func() error { return r.undo(x, c) })
		}
		if err := commits.Wait(); err != nil {
			return err
		}
		if err := r.Timeline.release(x.Life(), x.Revision()); err != nil {
			return err
		}
		changed = len(changes)
		s.Revision, s.objects = r.Timeline.Cache.Everything()
		x.Forget(s.Revision)
		restored()
		return nil
	})
}

// change is an object in the state to restore and in the present state; nil if it does not exist there.
type change struct{ was, is *storage.Object }

// changesBetween returns the changes, and the maximum number of bytes that must be written to undo them.
func changesBetween(then, now []*cache.Snapshot) (changes []change, bytes int) {
	for was, is := range cache.Changes(then, now) {
		changes = append(changes, change{was, is})
		if was != nil {
			bytes += len(was.Key) + was.Size()
		}
	}
	return changes, bytes
}

// undo writes the state before the change.
func (r *Restorer) undo(x *storage.Exclusive, c change) (err error) {
	var t storage.Txn
	if c.is != nil {
		t.Key, t.Expect = c.is.Key, c.is.Revision
	}
	if c.was != nil {
		t.Key = c.was.Key
		if t.Value, err = r.stored(c.was); err != nil {
			return err
		}
	}
	if of := r.kind(t.Key); of != nil && of.Expires {
		t.TTL = r.EventTTL
	}
	_, err = x.Commit(x.Life(), t)
	gone, ok := errors.AsType[*storage.ConflictError](err)
	if ok && t.TTL > 0 && gone.Current.ModRevision == 0 { // it has expired in the meantime
		t.Expect = 0
		_, err = x.Commit(x.Life(), t)
	}
	return err
}

// stored returns the bytes that would now be stored for an object.
func (r *Restorer) stored(o *storage.Object) ([]byte, error) {
	value, sealed, err := o.Stored()
	if err != nil || sealed {
		return value, err
	}
	if of := r.kind(o.Key); of != nil && of.Written != nil && o.Err == nil {
		obj, err := of.Decode(value)
		if err != nil {
			return nil, err
		}
		if value, err = codec.EncodeStored(of, obj); err != nil {
			return nil, err
		}
	}
	return r.Seal(o.Key, value)
}

// kind returns the type of a key's object, or nil.
func (r *Restorer) kind(key string) *resources.Resource {
	collection, _, ok := storage.Collection(r.Root, key)
	if !ok {
		return nil
	}
	return r.Types.Collection(collection)
}
