package cache

import (
	"testing"

	"github.com/kubecascade/kubecascade/storage"
)

// TestEncodingOfNewest: only objects of the newest state keep an encoding, and it goes with their version
// (guarantee 8).
func TestEncodingOfNewest(t *testing.T) {
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
		if c.Keep(o, []byte("encoded")); string(c.Encoding(o)) != "encoded" || c.EncodingBytes() != 7 {
			t.Fatalf("%q is kept, %d bytes", c.Encoding(o), c.EncodingBytes())
		}
		return o
	}
	gone := func(o *storage.Object, after string) {
		t.Helper()
		if c.Keep(o, []byte("late")); c.Encoding(o) != nil || c.EncodingBytes() != 0 {
			t.Errorf("after %s %q is kept, %d bytes", after, c.Encoding(o), c.EncodingBytes())
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
	same := keep()
	apply(true, 10, put(9))
	if o, _ := c.Get(key); o != same || c.EncodingBytes() != 0 {
		t.Fatalf("a whole state with the same object: %d bytes are kept", c.EncodingBytes())
	}
	keep()
}

// TestEncodingOfCopy: a copy of an object of the newest state shares its encoding, and nothing else does.
func TestEncodingOfCopy(t *testing.T) {
	decoder := storage.Decoder{Root: "/registry"}
	c := New(Options{Decoder: decoder})
	record := storage.Record{
		Key: "/registry/configmaps/default/a", Value: []byte(`{"metadata":{"name":"a"}}`), ModRevision: 4,
	}
	early := decoder.Decode(record)
	if c.Keep(early, []byte("early")); c.Encoding(early) != nil {
		t.Error("an encoding is kept before the object is there")
	}
	if err := c.Apply(storage.Batch{Reset: true, Revision: 5, Events: []storage.Event{
		{Key: record.Key, Revision: 4, Value: record.Value},
	}}); err != nil {
		t.Fatal(err)
	}
	another, later := record, record
	another.Value = []byte(`{"metadata":{"name":"a"},"data":{}}`) // the result of a dry run
	later.ModRevision = 6
	for _, r := range []storage.Record{another, later} {
		o := decoder.Decode(r)
		if c.Keep(o, []byte("other")); c.Encoding(o) != nil || c.EncodingBytes() != 0 {
			t.Errorf("%s at %d keeps an encoding", r.Value, r.ModRevision)
		}
	}
	c.Keep(early, []byte("encoded"))
	now, _ := c.Get(record.Key)
	if string(c.Encoding(now)) != "encoded" || string(c.Encoding(early)) != "encoded" || c.EncodingBytes() != 7 {
		t.Errorf("the object keeps %q, its copy %q, %d bytes", c.Encoding(now), c.Encoding(early), c.EncodingBytes())
	}
	if o := decoder.Decode(another); c.Encoding(o) != nil {
		t.Errorf("another value has the encoding %q", c.Encoding(o))
	}
}

// TestEncodingSweep: encodings that are no longer used make room for others, in all collections.
func TestEncodingSweep(t *testing.T) {
	c := New(Options{Decoder: storage.Decoder{Root: "/registry"}, EncodingBytes: 10})
	value := []byte(`{"metadata":{"name":"a"}}`)
	if err := c.Apply(storage.Batch{Reset: true, Revision: 5, Events: []storage.Event{
		{Key: "/registry/configmaps/default/a", Revision: 4, Value: value},
		{Key: "/registry/secrets/default/a", Revision: 5, Value: value},
	}}); err != nil {
		t.Fatal(err)
	}
	a, _ := c.Get("/registry/configmaps/default/a")
	b, _ := c.Get("/registry/secrets/default/a")
	ten := make([]byte, 10)
	c.Keep(a, ten)
	for range 12 { // two sweeps, and once more
		for range 4 {
			c.Keep(b, ten)
		}
	}
	if c.Encoding(a) != nil || c.Encoding(b) == nil || c.EncodingBytes() != 10 {
		t.Errorf("%d bytes are kept: of the first %d", c.EncodingBytes(), len(c.Encoding(a)))
	}
}
