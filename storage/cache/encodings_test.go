package cache

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
)

// text returns an encode function.
func text(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }

// fails returns an encode function for a form that must be kept already.
func fails(t *testing.T) func() ([]byte, error) {
	return func() ([]byte, error) {
		t.Helper()
		t.Error("it was made again")
		return nil, nil
	}
}

// event returns a new event of a cache.
func event(t *testing.T, c *Cache) *Event {
	t.Helper()
	w, err := c.Watch("pods", c.Revision())
	if err != nil {
		t.Fatal(err)
	}
	change(t, c, "pods")
	events, _, err := w.Poll()
	if err != nil || len(events) != 1 {
		t.Fatal(len(events), err)
	}
	return events[0]
}

// kept is how many bytes are counted for encodings of these lengths.
func kept(lengths ...int) (bytes int64) {
	for _, n := range lengths {
		bytes += int64(n) + overhead
	}
	return bytes
}

// TestOnlyNewestObjectsKeepEncodings: only objects of the newest state keep an encoding, and it goes with their version
// (guarantee 8).
func TestOnlyNewestObjectsKeepEncodings(t *testing.T) {
	c := New(Options{Decoder: storage.Decoder{Root: "/registry"}})
	const key = "/registry/configmaps/default/a"
	apply := func(reset bool, rev int64, events ...storage.Event) {
		t.Helper()
		if err := c.Apply(storage.Batch{Reset: reset, Revision: rev, Events: events}); err != nil {
			t.Fatal(err)
		}
	}
	put := func(rev int64) storage.Event {
		return storage.Event{Key: key, Revision: rev, Value: []byte(`{"metadata":{"name":"a"}}`)}
	}
	keep := func() *storage.Object {
		t.Helper()
		o, _ := c.Get(key)
		for range 2 {
			data, err := c.Encoded(o, "x", text(fmt.Sprint(o.Revision)))
			if err != nil || string(data) != fmt.Sprint(o.Revision) || c.EncodedBytes() != kept(1) {
				t.Fatalf("%q is kept, %d bytes, %v", data, c.EncodedBytes(), err)
			}
		}
		_, _ = c.Encoded(o, "x", fails(t))
		return o
	}
	gone := func(o *storage.Object, after string) {
		t.Helper()
		if data, _ := c.Encoded(o, "x", text("late")); string(data) != "late" || c.EncodedBytes() != 0 {
			t.Errorf("after %s %q is kept, %d bytes", after, data, c.EncodedBytes())
		}
	}
	apply(true, 5, put(4))
	old := keep()
	apply(false, 6, put(6))
	gone(old, "an update")
	old = keep()
	apply(false, 7, storage.Event{Key: key, Revision: 7})
	gone(old, "a deletion")
	apply(false, 8, put(8))
	old = keep()
	apply(true, 9, put(9))
	gone(old, "another whole state")
	copied := *keep()
	if data, _ := c.Encoded(&copied, "x", text("dry run")); string(data) != "dry run" {
		t.Errorf("a copy, such as the result of a dry run, has the encoding %q", data)
	}
	copied.Key = "" // of no collection
	if data, _ := c.Encoded(&copied, "x", text("virtual")); string(data) != "virtual" || c.EncodedBytes() != kept(1) {
		t.Errorf("an object that is not stored has the encoding %q", data)
	}
}

// TestOneCallerEncodesAnEvent: of several concurrent callers, one encodes; forms are independent, and their number is
// limited.
func TestOneCallerEncodesAnEvent(t *testing.T) {
	c := ready(t, Options{})
	e := event(t, c)
	var calls [mostForms + 1]atomic.Int64
	encode := func(i int) func() ([]byte, error) {
		return func() ([]byte, error) {
			calls[i].Add(1)
			return fmt.Append(nil, i), nil
		}
	}
	var all sync.WaitGroup
	for i := range 8 * mostForms {
		all.Go(func() {
			n := i % mostForms
			if data, err := c.EncodedEvent(e, fmt.Sprint("form", n), encode(n)); string(data) != fmt.Sprint(n) || err != nil {
				t.Errorf("%s for %d, %v", data, n, err)
			}
		})
	}
	all.Wait()
	for i := range mostForms {
		if n := calls[i].Load(); n != 1 {
			t.Errorf("form %d was made %d times", i, n)
		}
	}
	for range 2 {
		_, _ = c.EncodedEvent(e, "more", encode(mostForms))
	}
	if n := calls[mostForms].Load(); n != 2 {
		t.Errorf("a form too many was made %d times of 2", n)
	}
}

// TestErrorsOfEncodingsAreNotShared: errors and panics are not shared.
func TestErrorsOfEncodingsAreNotShared(t *testing.T) {
	c := ready(t, Options{})
	e := event(t, c)
	failed := errors.New("failed")
	if _, err := c.EncodedEvent(e, "x", func() ([]byte, error) { return nil, failed }); err != failed {
		t.Errorf("got %v", err)
	}
	if data, err := c.EncodedEvent(e, "x", text("ok")); string(data) != "ok" || err != nil {
		t.Errorf("after an error: %q, %v", data, err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = c.EncodedEvent(e, "y", func() ([]byte, error) { panic("encode") })
		t.Error("it did not panic")
	}()
	if data, err := c.EncodedEvent(e, "y", text("ok")); string(data) != "ok" || err != nil {
		t.Errorf("after a panic: %q, %v", data, err)
	}
}

// TestLeastRecentlyUsedEncodingIsDropped: the least recently used encodings, of objects and of events, are dropped
// first.
func TestLeastRecentlyUsedEncodingIsDropped(t *testing.T) {
	c := ready(t, Options{EncodingBytes: kept(10, 10)})
	a, b := event(t, c), event(t, c)
	o, _ := c.Get(root + "/pods/ns/a")
	ten := text(strings.Repeat("x", 10))
	_, _ = c.Encoded(o, "x", ten)
	_, _ = c.EncodedEvent(a, "x", ten)
	_, _ = c.Encoded(o, "x", fails(t))
	_, _ = c.EncodedEvent(b, "x", ten)
	if c.EncodedBytes() != kept(10, 10) {
		t.Errorf("%d bytes are kept", c.EncodedBytes())
	}
	_, _ = c.Encoded(o, "x", fails(t))
	_, _ = c.EncodedEvent(b, "x", fails(t))
	if data, _ := c.EncodedEvent(a, "x", text("again")); string(data) != "again" {
		t.Errorf("%q was kept longer than what was used since", data)
	}
	if data, _ := c.EncodedEvent(a, "large", text(strings.Repeat("x", 1000))); len(data) != 1000 || c.EncodedBytes() != 0 {
		t.Errorf("%d bytes of one that is larger than the limit, %d kept", len(data), c.EncodedBytes())
	}
}

// TestDroppedEventsKeepNoEncodings: an event that only the timeline still has keeps no encodings.
func TestDroppedEventsKeepNoEncodings(t *testing.T) {
	for _, o := range []Options{{Events: 2}, {Events: parts, TimelineEvents: 2}} {
		droppedEventsKeepNoEncodings(t, ready(t, o))
	}
}

func droppedEventsKeepNoEncodings(t *testing.T, c *Cache) {
	w, err := c.Timeline(1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		change(t, c, "pods")
	}
	events, _, err := w.Poll()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		_, _ = c.EncodedEvent(e, "x", text("x"))
	}
	change(t, c, "pods")
	if c.EncodedBytes() != kept(1) {
		t.Errorf("%d bytes are kept", c.EncodedBytes())
	}
	if _, err := c.EncodedEvent(events[0], "x", text("x")); err != nil || c.EncodedBytes() != kept(1) {
		t.Errorf("a watcher that has fallen behind: %d bytes are kept, %v", c.EncodedBytes(), err)
	}
}
