package storagetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
)

// Timeline records what a follower receives. It checks every batch against the guarantees of Follow and fails the test
// at the first violation.
type Timeline struct {
	t testing.TB

	mu       sync.Mutex // guards the fields below
	events   []storage.Event
	state    map[string]storage.Record
	revision int64
	resets   int
	broken   error
	changed  chan struct{}
}

// Watch follows the store until the test ends.
func Watch(t testing.TB, s storage.Store) *Timeline {
	t.Helper()
	l := &Timeline{t: t, changed: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- s.Follow(ctx, func(b storage.Batch) error {
			at := storage.Range{Prefix: "/registry/", Limit: 1, Revision: b.Revision}
			if _, err := s.List(ctx, at); errors.Is(err, storage.ErrFuture) {
				t.Errorf("the batch at revision %d came before the revision could be read", b.Revision)
			}
			return l.add(b)
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) && !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("following: %v", err)
		}
	})
	return l
}

// add checks and records a batch.
func (l *Timeline) add(b storage.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = l.check(b)
	if b.Reset {
		l.state = map[string]storage.Record{}
		l.events = nil
		l.resets++
	}
	for _, ev := range b.Events {
		if ev.Value == nil {
			delete(l.state, ev.Key)
		} else {
			l.state[ev.Key] = storage.Record{Key: ev.Key, Value: ev.Value, ModRevision: ev.Revision}
		}
		if !b.Reset {
			l.events = append(l.events, ev)
		}
	}
	l.revision = b.Revision
	close(l.changed)
	l.changed = make(chan struct{})
	return l.broken
}

// check returns the error of the next batch, if any.
func (l *Timeline) check(b storage.Batch) error {
	switch {
	case l.resets == 0 && !b.Reset:
		return errors.New("the first batch is not a whole state")
	case b.Revision < l.revision || b.Revision == l.revision && !b.Reset:
		return fmt.Errorf("batch up to revision %d after %d", b.Revision, l.revision)
	}
	last := l.revision
	for i, ev := range b.Events {
		switch {
		case ev.Revision > b.Revision:
			return fmt.Errorf("event of revision %d in a batch up to %d", ev.Revision, b.Revision)
		case b.Reset && ev.Value == nil:
			return fmt.Errorf("removal of %s in a whole state", ev.Key)
		case b.Reset && i > 0 && ev.Key <= b.Events[i-1].Key:
			return fmt.Errorf("%s after %s in a whole state", ev.Key, b.Events[i-1].Key)
		case !b.Reset && ev.Revision <= last:
			return fmt.Errorf("%s: revision %d after %d", ev.Key, ev.Revision, last)
		}
		last = ev.Revision
	}
	return nil
}

// WaitFor waits until the timeline has reached the revision.
func (l *Timeline) WaitFor(rev int64) {
	l.t.Helper()
	l.wait(func() bool { return l.resets > 0 && l.revision >= rev })
}

// WaitForReset waits until n whole states were received.
func (l *Timeline) WaitForReset(n int) {
	l.t.Helper()
	l.wait(func() bool { return l.resets >= n })
}

func (l *Timeline) wait(done func() bool) {
	l.t.Helper()
	for {
		l.mu.Lock()
		reached, broken, changed := done(), l.broken, l.changed
		l.mu.Unlock()
		switch {
		case broken != nil:
			l.t.Fatalf("timeline: %v", broken)
		case reached:
			return
		}
		select {
		case <-changed:
		case <-l.t.Context().Done():
			l.t.Fatal("test ended while waiting for the timeline")
		}
	}
}

// Events returns all events since the last whole state.
func (l *Timeline) Events() []storage.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// State returns the state that the timeline has reached, in the order of keys.
func (l *Timeline) State() []storage.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	var records []storage.Record
	for _, k := range slices.Sorted(maps.Keys(l.state)) {
		records = append(records, l.state[k])
	}
	return records
}
