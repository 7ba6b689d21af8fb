package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/kubecascade/kubecascade/storage"
)

// ready returns a cache of an empty store at revision 1.
func ready(t testing.TB, o Options) *Cache {
	o.Decoder = storage.Decoder{Root: root}
	c := New(o)
	if err := c.Apply(storage.Batch{Reset: true, Revision: 1}); err != nil {
		t.Fatal(err)
	}
	return c
}

// change applies one put in a collection.
func change(t testing.TB, c *Cache, collection string) {
	key := fmt.Sprintf("%s/%s/ns/a", root, collection)
	rev := c.Revision() + 1
	b := storage.Batch{Revision: rev, Events: []storage.Event{{Key: key, Revision: rev, Value: value(key, "x")}}}
	if err := c.Apply(b); err != nil {
		t.Fatal(err)
	}
}

// TestNextWaitsForEventOfItsCollection: Next blocks until there is an event of its own collection, or its context ends.
func TestNextWaitsForEventOfItsCollection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ready(t, Options{})
		w, err := c.Watch("pods", 1)
		if err != nil {
			t.Fatal(err)
		}
		var got []response
		var ended error
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ended == nil {
				var r response
				r.events, r.rev, ended = w.Next(ctx)
				got = append(got, r)
			}
		}()
		synctest.Wait()
		change(t, c, "leases")
		if synctest.Wait(); len(got) != 0 {
			t.Fatalf("returned %d times before there was an event", len(got))
		}
		change(t, c, "pods")
		if synctest.Wait(); len(got) != 1 || len(got[0].events) != 1 || got[0].rev != 3 {
			t.Fatalf("returned %+v", got)
		}
		cancel()
		if synctest.Wait(); len(got) != 2 || !errors.Is(ended, context.Canceled) || got[1].rev != 3 {
			t.Fatalf("returned %+v, %v", got, ended)
		}
	})
}

// TestWaitReturnsAtTheRevision: Wait returns with the batch that brings the revision, or with its context.
func TestWaitReturnsAtTheRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Decoder: storage.Decoder{Root: root}})
		done := map[int64]error{}
		ctx, cancel := context.WithCancel(t.Context())
		for _, rev := range []int64{0, 5, 7, 9} {
			go func() { done[rev] = c.Wait(ctx, rev) }()
			synctest.Wait()
		}
		for i, want := range []int{1, 2, 3} {
			b := storage.Batch{Reset: i == 1, Revision: int64(3 + 2*i)}
			if err := c.Apply(b); (err != nil) != (i == 0) {
				t.Fatal(err)
			}
			if synctest.Wait(); len(done) != want {
				t.Fatalf("at revision %d: %v", c.Revision(), done)
			}
		}
		cancel()
		if synctest.Wait(); len(done) != 4 || !errors.Is(done[9], context.Canceled) || done[7] != nil {
			t.Fatal(done)
		}
	})
}

// TestNextReturnsABoundedNumberOfEvents: pending events are returned in parts, or at once if they are few, and progress
// stays exact.
func TestNextReturnsABoundedNumberOfEvents(t *testing.T) {
	for _, o := range []Options{{}, {Events: 10_000, TimelineEvents: 20_000}, {Events: 1 << 18, TimelineEvents: 1 << 18}} {
		c := ready(t, o)
		all, err := c.Watch("pods", 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 2500 {
			change(t, c, "leases")
			change(t, c, "pods")
		}
		for waiting := 2500; waiting > 0; {
			events, rev, err := all.Next(t.Context())
			if err != nil || len(events) > mostEvents || len(events) < min(waiting, minRun) {
				t.Fatalf("%d of %d waiting events, %v", len(events), waiting, err)
			}
			waiting -= len(events)
			// The next event is known, so all before it is complete.
			if last := events[len(events)-1].Revision; rev != last+1 && waiting > 0 || waiting == 0 && rev != c.Revision() {
				t.Errorf("%d waiting: complete up to %d, last event %d", waiting, rev, last)
			}
		}
		for ago := range int64(minRun) {
			few, err := c.Watch("pods", c.Revision()-2*ago)
			if err != nil {
				t.Fatal(err)
			}
			if events, _, err := few.Poll(); err != nil || int64(len(events)) != ago {
				t.Errorf("%d of %d events, %v", len(events), ago, err)
			}
		}
	}
}

// TestIdleWatchersCostNothing: two thousand watchers of two hundred collections cost next to nothing.
func TestIdleWatchersCostNothing(t *testing.T) {
	c := ready(t, Options{})
	watchers := make([]*Watcher, 2000)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for i := range 200 {
		if _, err := c.Watch(fmt.Sprint("kind", i), 1); err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	for i := range watchers {
		w, err := c.Watch(fmt.Sprint("kind", i%200), 1)
		if err != nil {
			t.Fatal(err)
		}
		watchers[i] = w
	}
	if each := (heap() - before) / int64(len(watchers)); each > 128 {
		t.Errorf("%d bytes a watcher", each)
	}
	runtime.KeepAlive(watchers)
}

// TestReplacedStatesAreGarbage: only the history keeps replaced objects in memory.
func TestReplacedStatesAreGarbage(t *testing.T) {
	c := ready(t, Options{Events: 4, TimelineEvents: 4})
	gone := make(chan struct{})
	change(t, c, "pods")
	o, _ := c.Get(root + "/pods/ns/a")
	runtime.AddCleanup(o, func(struct{}) { close(gone) }, struct{}{})
	o = nil
	change(t, c, "pods")
	if s, err := c.Snapshot("pods", 2); err != nil || s.Len() != 1 {
		t.Fatal(s, err)
	}
	for range 40 {
		change(t, c, "pods")
	}
	for range 100 {
		runtime.GC()
		if isClosed(gone) {
			runtime.KeepAlive(c)
			return
		}
	}
	t.Error("an object outlived the history")
	runtime.KeepAlive(c)
}

// TestResetDecodesOnlyChangedObjects: a whole state does not decode objects again that are known at the same revision.
func TestResetDecodesOnlyChangedObjects(t *testing.T) {
	c := ready(t, Options{})
	change(t, c, "pods")
	key := root + "/pods/ns/a"
	before, rev := c.Get(key)
	same := storage.Event{Key: key, Revision: rev, Value: value(key, "x")}
	if err := c.Apply(storage.Batch{Reset: true, Revision: 9, Events: []storage.Event{same}}); err != nil {
		t.Fatal(err)
	}
	if after, at := c.Get(key); after != before || at != 9 {
		t.Errorf("%p at %d, before %p", after, at, before)
	}
}
