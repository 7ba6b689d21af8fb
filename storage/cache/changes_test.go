package cache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
)

// changesOf returns what Changes yields, as text.
func changesOf(then, now []*Snapshot) (out []string) {
	for was, is := range Changes(then, now) {
		switch {
		case was == nil:
			out = append(out, "+"+is.Key)
		case is == nil:
			out = append(out, "-"+was.Key)
		default:
			out = append(out, fmt.Sprintf("%s %d %d", is.Key, was.Revision, is.Revision))
		}
	}
	return out
}

// compared returns what Changes must yield, by a comparison of all objects.
func compared(then, now []*Snapshot) map[string]bool {
	out, there := map[string]bool{}, map[string]*storage.Object{}
	for _, s := range then {
		for o := range s.Ascend("", "") {
			there[o.Key] = o
		}
	}
	for _, s := range now {
		for o := range s.Ascend("", "") {
			was := there[o.Key]
			delete(there, o.Key)
			if was == nil {
				out["+"+o.Key] = true
			} else if was.Revision != o.Revision {
				out[fmt.Sprintf("%s %d %d", o.Key, was.Revision, o.Revision)] = true
			}
		}
	}
	for key := range there {
		out["-"+key] = true
	}
	return out
}

// TestChangesYieldsAllDifferences: Changes yields the differences between random states, each once, in the order of the
// keys of a collection.
func TestChangesYieldsAllDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(seed.Of(t), 0))
	for range 30 {
		c := New(Options{Decoder: storage.Decoder{Root: "/r"}})
		rev := int64(1)
		write := func(n, of int, removes float64) {
			events := make([]storage.Event, n)
			for i := range events {
				rev++
				events[i] = storage.Event{Key: fmt.Sprintf("/r/%c/%04d", 'a'+random.IntN(3), random.IntN(of)), Revision: rev}
				if random.Float64() >= removes {
					events[i].Value = []byte(`{"metadata":{}}`)
				}
			}
			if err := c.Apply(storage.Batch{Events: events, Revision: rev}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Apply(storage.Batch{Reset: true, Revision: rev}); err != nil {
			t.Fatal(err)
		}
		write(random.IntN(5000), 1+random.IntN(5000), random.Float64())
		for range 5 {
			_, then := c.Everything()
			write(1+random.IntN(300), 1+random.IntN(5000), random.Float64())
			_, now := c.Everything()
			got, want := changesOf(then, now), compared(then, now)
			set := map[string]bool{}
			for _, one := range got {
				set[one] = true
			}
			if diff := cmp.Diff(want, set); diff != "" || len(set) != len(got) {
				t.Fatalf("%d changes, of which %d are different: %s", len(got), len(set), diff)
			}
			if again := changesOf(now, now); len(again) > 0 {
				t.Fatalf("a state differs from itself: %v", again)
			}
		}
	}
}

// TestCutDropsAllHistory: a batch with Cut drops all history, also of collections that it doesn't change.
func TestCutDropsAllHistory(t *testing.T) {
	c := New(Options{Decoder: storage.Decoder{Root: "/r"}})
	value := []byte(`{"metadata":{}}`)
	for _, b := range []storage.Batch{
		{Reset: true, Revision: 1, Events: []storage.Event{
			{Key: "/r/a/1", Value: value, Revision: 1}, {Key: "/r/b/1", Value: value, Revision: 1},
		}},
		{Revision: 2, Events: []storage.Event{{Key: "/r/b/2", Value: value, Revision: 2}}},
	} {
		if err := c.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	watchers := map[string]*Watcher{}
	for _, collection := range []string{"a", "b", "none"} {
		w, err := c.Watch(collection, 2)
		if err != nil {
			t.Fatal(err)
		}
		watchers[collection] = w
	}
	all, err := c.Timeline(2)
	if err != nil {
		t.Fatal(err)
	}
	watchers["all"] = all
	waits := watchers["a"].Changed()
	decoded := c.decoder.Decode(storage.Record{Key: "/r/b/1", Value: value, ModRevision: 4})
	if err := c.Apply(storage.Batch{Cut: true, Revision: 5, Events: []storage.Event{
		{Key: "/r/a/1", Revision: 2}, // was applied before
		{Key: "/r/b/1", Value: value, Revision: 4}, {Key: "/r/b/2", Revision: 4}, {Key: "/r/b/3", Revision: 4},
		{Key: "/r/c/1", Value: value, Revision: 4}, {Key: "/elsewhere", Value: value, Revision: 5},
	}, Decoded: []*storage.Object{1: decoded, 5: nil}}); err != nil {
		t.Fatal(err)
	}
	<-waits
	for name, w := range watchers {
		if events, _, err := w.Poll(); !errors.Is(err, ErrExpired) {
			t.Errorf("a watcher of %s: %v, %v", name, events, err)
		}
		if _, err := c.Watch(name, 4); !errors.Is(err, ErrExpired) {
			t.Errorf("a watch of %s from a revision before: %v", name, err)
		}
		if _, err := c.Snapshot(name, 4); !errors.Is(err, ErrExpired) {
			t.Errorf("a snapshot of %s before: %v", name, err)
		}
		if _, err := c.Watch(name, 5); err != nil {
			t.Errorf("a watch of %s: %v", name, err)
		}
	}
	s, err := c.Snapshot("b", 0)
	if err != nil || s.Len() != 1 || s.Get("/r/b/1") != decoded || s.Revision() != 5 {
		t.Errorf("b: %v, %v", s, err)
	}
	for _, key := range []string{"/r/a/1", "/r/c/1"} {
		if o, _ := c.Get(key); o == nil || string(o.JSON) == "" {
			t.Errorf("%s is %v", key, o)
		}
	}
}
