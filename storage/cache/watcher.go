package cache

import "context"

// mostEvents is the maximum number of events that a call of Next or Poll returns.
const mostEvents = 1024

// Watcher reads the history of one collection, or of all. It is only a position in the history that all watchers share:
// it costs nothing while idle and needs no closing. One goroutine at a time may use it.
type Watcher struct {
	cache *Cache
	place int
	// next is the number of the next event to return.
	next uint64
	// skip is the start revision if history had not reached it when the watch began: earlier events are skipped.
	skip int64
	// progress is the last result of Progress.
	progress int64
}

// Watch returns a watcher of the collection's events with Revision > rev. If rev is beyond the present revision, it
// returns no events until history has passed rev (H-29). The collection may be one that never had objects. Errors:
// ErrExpired (an *ExpiredError) if the history after rev is not complete.
func (c *Cache) Watch(collection string, rev int64) (*Watcher, error) {
	s := c.state.Load()
	place, ok := s.places[collection]
	if !ok {
		s, place = c.add(collection)
	}
	return c.watch(s, place, rev)
}

// Timeline is Watch over all collections, in the order of their revisions.
func (c *Cache) Timeline(rev int64) (*Watcher, error) {
	return c.watch(c.state.Load(), timeline, rev)
}

func (c *Cache) watch(s *state, place int, rev int64) (*Watcher, error) {
	g := &s.versions[place].log
	if s.revision == 0 || rev < g.floor {
		return nil, &ExpiredError{Revision: rev, Oldest: g.floor}
	}
	w := &Watcher{cache: c, place: place, next: g.after(rev), progress: rev}
	if rev > s.revision {
		w.skip = rev
	}
	return w, nil
}

// add adds a collection that never had objects, so that its watchers have a channel of their own to wait on.
func (c *Cache) add(collection string) (*state, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.state.Load().draft()
	place := d.place(collection)
	c.publish(d)
	return d.state, place
}

// look returns the present state and log; err is ErrExpired if unread history was dropped.
func (w *Watcher) look() (s *state, v *version, err error) {
	s = w.cache.state.Load()
	v = s.versions[w.place]
	if w.next < v.log.first {
		return s, v, &ExpiredError{Revision: w.progress, Oldest: v.log.floor}
	}
	if w.skip > 0 {
		w.next = max(w.next, v.log.after(w.skip))
		if w.next < v.log.end {
			w.skip = 0
		}
	}
	return s, v, nil
}

// Next returns the next events, and blocks until there is one. It returns at most 1024 events, and all pending ones if
// they are fewer than 64; otherwise it may leave some for the next call. All events up to rev have then been returned.
// The slice is shared and must not be modified. Errors: ErrExpired (an *ExpiredError) if events were dropped before
// they were read, and then from all later calls; ctx's error if ctx was done before there was an event.
func (w *Watcher) Next(ctx context.Context) (events []*Event, rev int64, err error) {
	for {
		events, rev, err = w.Poll()
		if len(events) > 0 || err != nil {
			return events, rev, err
		}
		select {
		case <-w.Changed():
		case <-ctx.Done():
			return nil, rev, ctx.Err()
		}
	}
}

// Poll is Next without waiting: when Next would block, Poll returns no events, and rev.
func (w *Watcher) Poll() (events []*Event, rev int64, err error) {
	s, v, err := w.look()
	if err != nil {
		return nil, w.progress, err
	}
	events = v.log.read(w.next, mostEvents)
	w.next += uint64(len(events))
	w.progress = max(w.progress, v.log.complete(w.next, s.revision))
	return events, w.progress, nil
}

// Progress returns the revision up to which all events have been returned. It advances with the timeline while the
// collection is idle, and never goes back.
func (w *Watcher) Progress() int64 {
	if s, v, err := w.look(); err == nil {
		w.progress = max(w.progress, v.log.complete(w.next, s.revision))
	}
	return w.progress
}

// Changed returns a channel that is closed when Next would not block. A watcher that waits for a
// revision in the future may find it closed too early; Poll then returns no events.
func (w *Watcher) Changed() <-chan struct{} {
	_, v, _ := w.look()
	if w.next < v.log.end { // also if unread history was dropped
		ready := make(chan struct{})
		close(ready)
		return ready
	}
	return v.changed
}
