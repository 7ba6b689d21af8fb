package cache

import (
	"fmt"

	"github.com/kubecascade/kubecascade/storage"
)

// Apply applies the next batch of the timeline. All its changes become visible at once. It does not keep the batch's
// slices. It keeps the bytes of values only if the decoder does.
//
// It ignores events with revisions that were applied before, keys that name no collection, and deletions of absent
// keys. A batch with Reset, except the first, and one with Cut drop all history: every watcher gets ErrExpired. Errors:
// ErrMalformed, storage.ErrSetBack.
func (c *Cache) Apply(b storage.Batch) error {
	if err := c.checkOrder(b); err != nil {
		return err
	}
	if err := c.checkHistory(b); err != nil {
		return err
	}
	objects := c.decode(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.state.Load().draft()
	switch {
	case b.Reset:
		d.base, d.revision = b.Revision, b.Revision
		c.reset(d, b.Events, objects)
	case b.Cut:
		c.cut(d, b.Events, objects)
		d.revision = max(d.revision, b.Revision)
		c.forget(d)
	default:
		for i := range b.Events {
			if b.Events[i].Revision > d.revision {
				c.change(d, &b.Events[i], objects[i])
			}
		}
		d.shed(c.whole)
		d.revision = max(d.revision, b.Revision)
	}
	first := d.from.revision == 0
	c.publish(d)
	c.written.forget(d.revision)
	if first {
		close(c.ready)
	}
	return nil
}

// checkOrder returns ErrMalformed if the batch does not follow the present state.
func (c *Cache) checkOrder(b storage.Batch) error {
	now := c.state.Load().revision
	switch {
	case b.Revision < 1:
		return fmt.Errorf("%w: revision %d", ErrMalformed, b.Revision)
	case !b.Reset && now == 0:
		return fmt.Errorf("%w: the first is not a whole state", ErrMalformed)
	case b.Reset && b.Revision < now:
		return fmt.Errorf("%w: whole state at revision %d after %d", ErrMalformed, b.Revision, now)
	}
	for i := range b.Events {
		e := &b.Events[i]
		switch {
		case e.Revision > b.Revision:
			return fmt.Errorf("%w: event of revision %d in a batch up to %d", ErrMalformed, e.Revision, b.Revision)
		case i == 0:
		case b.Reset && e.Key <= b.Events[i-1].Key:
			return fmt.Errorf("%w: key %q after %q", ErrMalformed, e.Key, b.Events[i-1].Key)
		case !b.Reset && e.Revision < b.Events[i-1].Revision:
			return fmt.Errorf("%w: event of revision %d after %d", ErrMalformed, e.Revision, b.Events[i-1].Revision)
		}
	}
	return nil
}

// checkHistory returns ErrSetBack if a whole state can't have followed the present one: it has a value whose revision
// was already applied, but the cache does not have that value. Missing values may have been deleted since.
func (c *Cache) checkHistory(b storage.Batch) error {
	now := c.state.Load().revision
	if !b.Reset || now == 0 {
		return nil
	}
	for i := range b.Events {
		e := &b.Events[i]
		if _, _, ok := storage.Collection(c.decoder.Root, e.Key); !ok || e.Revision > now {
			continue
		}
		if known, _ := c.Get(e.Key); known == nil || known.Revision != e.Revision {
			return fmt.Errorf("%w: %s was written at revision %d and was not there at %d",
				storage.ErrSetBack, e.Key, e.Revision, now)
		}
	}
	return nil
}

// reset sets the draft's objects to those of a whole state, and drops all history.
func (c *Cache) reset(d *draft, events []storage.Event, objects []*storage.Object) {
	for place := range d.versions {
		d.restart(place, newTree())
	}
	for i := range events {
		if collection, _, ok := storage.Collection(c.decoder.Root, events[i].Key); ok {
			d.versions[d.place(collection)].objects.put(events[i].Key, objects[i])
		}
	}
}

// cut applies changes to the draft's objects, and records no history.
func (c *Cache) cut(d *draft, events []storage.Event, objects []*storage.Object) {
	for i := range events {
		collection, _, ok := storage.Collection(c.decoder.Root, events[i].Key)
		if ok && events[i].Revision > d.revision {
			d.own(d.place(collection)).objects.put(events[i].Key, objects[i])
		}
	}
}

// forget drops all history before the draft's revision.
func (c *Cache) forget(d *draft) {
	d.base = d.revision
	for place := range d.versions {
		d.restart(place, d.versions[place].objects)
	}
}

// change applies one event: o is the new state, nil for a deletion.
func (c *Cache) change(d *draft, e *storage.Event, o *storage.Object) {
	collection, _, ok := storage.Collection(c.decoder.Root, e.Key)
	if !ok {
		return
	}
	place := d.place(collection)
	v := d.versions[place]
	change := &Event{Type: Modified, Collection: v.name, Object: o, Prev: v.objects.get(e.Key), Revision: e.Revision}
	switch {
	case change.Prev == nil && o == nil:
		return
	case change.Prev == nil:
		change.Type = Added
	case o == nil:
		change.Type = Deleted
		change.Object = c.decoder.Revise(change.Prev, e.Revision)
	}
	d.record(place, change, c.each).objects.put(e.Key, o)
	d.stale = append(d.stale, change.Prev)
	d.record(timeline, change, c.line)
}

// decode returns the objects of a batch's events; nil for deletions. Objects of a whole state that are known at the
// same revision, and objects that this process has written, are not decoded again.
func (c *Cache) decode(b storage.Batch) []*storage.Object {
	objects := make([]*storage.Object, len(b.Events))
	copy(objects, b.Decoded)
	for i := range b.Events {
		e := &b.Events[i]
		if objects[i] != nil || e.Value == nil && !b.Reset {
			continue
		}
		known := c.written.at(e.Revision)
		if b.Reset {
			known, _ = c.Get(e.Key)
		}
		if known != nil && known.Key == e.Key && known.Revision == e.Revision {
			objects[i] = known
			continue
		}
		objects[i] = c.decoder.Decode(storage.Record{
			Key: e.Key, Value: e.Value, ModRevision: e.Revision, Sealed: e.Sealed,
		})
	}
	return objects
}
